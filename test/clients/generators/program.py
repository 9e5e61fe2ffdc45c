# Calls an instance with the client that openapi-generator made.
import os
from datetime import datetime, timedelta, timezone

from depot_api import ApiClient, Configuration
from depot_api.api import AnalyticsApi, ProjectsApi, SearchApi, VersionsApi
from depot_api.exceptions import NotFoundException
from depot_api.models import AnalyticsQuery, ProjectCreate, VersionCreate

client = ApiClient(Configuration(host=os.environ["DEPOT_URL"], api_key={"token": os.environ["DEPOT_TOKEN"]}))
client.user_agent = "my-tool/1.0 (me@example.org)"
projects = ProjectsApi(client)

found = SearchApi(client).search_projects(query="lantern", limit=5)
assert found.total_hits >= 1, found
assert projects.get_project(os.environ["DEPOT_PROJECT"]).slug == os.environ["DEPOT_PROJECT"]

try:
    projects.get_project("no-such-project")
    raise AssertionError("the project exists")
except NotFoundException as failure:
    assert failure.data.error == "not_found", failure

project = projects.create_project(data=ProjectCreate(
    name="Lantern of Python", slug="lantern-of-python", summary="Light for long nights.", description="# Lantern",
    categories=["magic"], license_id="MIT", is_draft=True,
))
with open(os.environ["DEPOT_JAR"], "rb") as jar:
    version = VersionsApi(client).create_version(
        data=VersionCreate(
            project_id=project.id, version_number="1.0.0", version_title="First light", version_body="",
            release_channel="release", dependencies=[], loaders=["fabric"], game_versions=["1.20.1"], featured=False,
            file_parts=["file"],
        ),
        file=("lantern-1.0.0.jar", jar.read()),
    )
assert version.files[0].filename == "lantern-1.0.0.jar", version

now = datetime.now(timezone.utc)
slices = AnalyticsApi(client).query_analytics(AnalyticsQuery.from_dict({
    "time_range": {"start": now - timedelta(days=1), "end": now, "resolution": {"slices": 2}},
    "return_metrics": {"project_downloads": {}},
    "project_ids": [project.id],
}))
assert len(slices) == 2, slices
