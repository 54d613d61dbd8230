"""Server-side apply over HTTP: YAML or JSON, in the name of a manager, on objects that exist or not."""

MAPS = "/api/v1/namespaces/default/configmaps"
APPLY = "application/apply-patch+yaml"
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: '1'}\n"


def applied(http, config, query):
    return http("PATCH", f"{MAPS}/settings?{query}", config, Content_Type=APPLY)


def test_yaml_creates_and_json_changes(http):
    created = applied(http, CONFIG, "fieldManager=me")
    assert (created.status_code, created.json()["data"]) == (201, {"a": "1"})
    assert created.json()["metadata"]["managedFields"][0]["manager"] == "me"
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"b": "2"}}
    changed = applied(http, config, "fieldManager=me")
    assert (changed.status_code, changed.json()["data"]) == (200, {"b": "2"})


def test_flow_mappings_are_yaml_too(http):
    flow = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: x}}"
    assert applied(http, flow, "fieldManager=me").status_code == 201
    assert applied(http, "{a: [", "fieldManager=me").status_code == 400
    assert applied(http, "a: [", "fieldManager=me").status_code == 400


def test_conflicts_and_force(http):
    applied(http, CONFIG, "fieldManager=me")
    other = CONFIG.replace("'1'", "'2'")
    refused = applied(http, other, "fieldManager=you")
    assert refused.status_code == 409
    assert refused.json()["details"]["causes"][0]["field"] == ".data.a"
    assert applied(http, other, "fieldManager=you&force=true").json()["data"] == {"a": "2"}


def test_a_dry_run_changes_nothing(http):
    assert applied(http, CONFIG, "fieldManager=me&dryRun=All").status_code == 201
    assert http("GET", f"{MAPS}/settings").status_code == 404


def test_options_that_do_not_fit(http):
    assert "is required for apply patch" in applied(http, CONFIG, "").json()["message"]
    applied(http, CONFIG, "fieldManager=me")
    merge = http("PATCH", f"{MAPS}/settings?force=true", {}, Content_Type="application/merge-patch+json")
    assert merge.json()["message"].endswith("force: Forbidden: may not be specified for non-apply patch")


def test_fields_that_the_kind_does_not_have(http):
    refused = applied(http, CONFIG + "colour: red\n", "fieldManager=me&fieldValidation=Strict")
    assert 'unknown field "colour"' in refused.json()["message"]


def test_clients_that_name_no_manager_are_known_by_their_program(http):
    body = {"metadata": {"name": "settings"}, "data": {"a": "1"}}
    created = http("POST", MAPS, body, User_Agent="gadget/v1.2 (linux)").json()
    [entry] = created["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("gadget", "Update")
    assert entry["fieldsV1"] == {"f:data": {".": {}, "f:a": {}}}
