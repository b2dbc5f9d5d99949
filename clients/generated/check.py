"""Uses the client that openapi-python-client makes of the description, against the address of argv[1]."""

import sys

from memoryd_client import Client
from memoryd_client.api.calls import put_evaluation, list_calls
from memoryd_client.api.tool_memory import add_tool_call_result, retrieve_tool_memory
from memoryd_client.models import AddRequest, AddResponse, CallList, CallRequest, Correction, RetrieveRequest, NamesResponse, StoredCall
from memoryd_client.models.call_request_input_type_0 import CallRequestInputType0

client = Client(base_url=sys.argv[1])
call = CallRequest(
    tool_name="größe", input_=CallRequestInputType0.from_dict({"q": 1}), output="12 results", create_time="2025-01-01 00:00:00"
)
added = add_tool_call_result.sync(client=client, body=AddRequest(workspace_id="python", tool_call_results=[call]))
assert isinstance(added, AddResponse), added
assert added.metadata.deduplication_stats.added == 1 and added.metadata.memory_list[0].tool_call_results[0].score == 1.0, added

got = retrieve_tool_memory.sync(client=client, body=RetrieveRequest(workspace_id="python", tool_names=["größe"]))
assert isinstance(got, NamesResponse) and got.metadata.memory_list[0].when_to_use == "größe", got

listed = list_calls.sync("python", "größe", client=client)
assert isinstance(listed, CallList) and listed.calls[0].output == "12 results", listed

corrected = put_evaluation.sync(
    "python", "größe", listed.calls[0].id, client=client, body=Correction(score=0.0, evaluation="Another library.")
)
assert isinstance(corrected, StoredCall) and corrected.score == 0.0 and corrected.judgement.by == "person:unnamed", corrected
