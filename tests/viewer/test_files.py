"""Files of the viewer: their endings, files that are there, notes on meshes."""

import freeflyer as ff
import pytest
import warnings
from runs import batch, free_flight

MISSING = """<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
</inertial><visual><geometry><mesh filename="none.stl"/></geometry></visual></link></robot>"""


@pytest.fixture
def robot_without_mesh(tmp_path):
    (tmp_path / "r.urdf").write_text(MISSING)
    return tmp_path / "r.urdf"


def save_html(path, **options):
    pytest.importorskip("viser")
    page = ff.viewer.show(ff.robots.chain(2), browser=False)
    try:
        page.save_html(path, **options)
    finally:
        page.close()


WRITERS = {
    ".png": lambda path, **options: ff.viewer.save_picture(ff.robots.chain(2), path, width=40, height=40, **options),
    ".html": save_html,
    ".gif": lambda path, **options: ff.viewer.record(batch(), path, rate=5, **options),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_files_of_other_endings_and_files_that_are_there_are_refused(ending, tmp_path):
    write, wrong = WRITERS[ending], tmp_path / "a.jpg"
    with pytest.raises(ff.FileError, match=rf"must end in \{ending}"):
        write(wrong)
    assert not wrong.exists()
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"mine")
    with pytest.raises(ff.FileError, match="overwrite=True"):
        write(path)
    assert path.read_bytes() == b"mine"
    write(path, overwrite=True)
    assert len(path.read_bytes()) > 100


def test_pictures_warn_once_of_meshes_that_are_missing(robot_without_mesh, tmp_path):
    for draw in (ff.viewer.picture, lambda model: ff.viewer.save_picture(model, tmp_path / "a.png")):
        model = ff.load(robot_without_mesh)
        with pytest.warns(UserWarning, match="none.stl"):
            draw(model)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ff.viewer.picture(model, width=20, height=20)
            ff.viewer.record(free_flight(), tmp_path / "whole.gif", rate=5, overwrite=True)  # its shapes are all there
