"""Groups of groups: which tree a group is part of, whether the tree makes sense, and how it is placed as one."""
