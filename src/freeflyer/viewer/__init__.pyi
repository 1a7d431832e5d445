"""Public names of the room and where they are defined; each is imported when it is first used."""

from .page import Camera as Camera, picture as picture, save_picture as save_picture, show as show
from .player import play as play
from .recording import record as record
