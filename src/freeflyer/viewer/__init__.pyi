"""Public names of the room and where they are defined; each is imported when it is first used."""

from .camera import Camera as Camera
from .opening import play as play, record as record, show as show
from .picture import picture as picture, save_picture as save_picture
