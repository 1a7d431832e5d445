from .camera import Camera as Camera
from .opening import play as play, record as record, show as show
from .page import PosturePage as PosturePage
from .picture import picture as picture, save_picture as save_picture
from .player import RunPage as RunPage
