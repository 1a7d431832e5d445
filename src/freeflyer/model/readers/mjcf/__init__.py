"""MJCF: the XML is checked and stripped (`gate`, `tree`, `meshes`), MuJoCo compiles it, and its model becomes a Description."""
