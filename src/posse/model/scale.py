"""Scale: the size of anything that has one, whatever its kind; the body of the subresource `scale`."""

from posse.model.meta import ApiObject, Int32, Shape


class ScaleSpec(Shape):
    replicas: Int32 = 0


class ScaleStatus(Shape):
    replicas: Int32 = 0
    selector: str = ""


class Scale(ApiObject):
    """How many parts an object is to have, how many it has, and by which labels its pods are found."""

    spec: ScaleSpec = ScaleSpec()
    status: ScaleStatus = ScaleStatus()
