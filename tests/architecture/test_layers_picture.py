"""The picture of the layers shows what the import contracts say."""

from tools.layers_picture import PICTURE, drawn, layers_of


def test_the_picture_is_up_to_date():
    assert PICTURE.read_text() == drawn(), "draw it again with `make picture`"


def test_every_layer_has_a_caption_that_fits():
    layers = [*layers_of("posse"), *layers_of("posse.engine")]
    assert len(layers) > 30
    assert {layer.name: len(layer.caption) for layer in layers if not 10 <= len(layer.caption) <= 105} == {}
