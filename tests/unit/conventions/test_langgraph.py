"""LangChain and LangGraph: agents, workflows and nodes, from OpenInference and OpenLLMetry."""

import json
from typing import Any

from tests.support.steps import become, recorder, tools
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.model.span import Span, SpanEvent
from trajscope.model.step import RetrievalStep

oi = recorder("openinference.instrumentation.langchain")
tl = recorder("opentelemetry.instrumentation.langchain")
PROPERTY = "traceloop.association.properties."


def chain(id: int, name: str, parent: int | None = None, kind: str = "CHAIN", **meta: Any) -> Span:
    more = {"metadata": json.dumps(meta)} if meta else {}
    return oi(id, name, parent, **{"openinference.span.kind": kind, **more})


def task(id: int, name: str, parent: int | None = None, kind: str = "task", **meta: Any) -> Span:
    more = {PROPERTY + key: value for key, value in meta.items()}
    label = {"traceloop.span.kind": kind, "traceloop.entity.name": name, **more}
    return tl(id, f"{name}.{kind}", parent, **label)


def test_a_graph_recorded_before_it_said_what_it_is() -> None:
    """Older versions name no integration: the nodes tell that what is around them is a graph."""
    found = become(
        chain(1, "orders"),
        chain(2, "classify", 1, langgraph_node="classify", langgraph_step=1),
        chain(3, "route", 2, langgraph_node="classify", langgraph_step=1),
        chain(4, "RunnableSequence", 2, langgraph_node="classify"),
    )
    assert found == ["workflow_run orders", "  workflow_step classify"]


def test_a_chain_around_no_node_is_glue() -> None:
    assert become(chain(1, "RunnableSequence"), chain(2, "StrOutputParser", 1)) == []


def test_a_node_with_agent_in_its_name_is_a_node() -> None:
    found = become(
        chain(1, "flow", ls_integration="langgraph"),
        chain(2, "agent_node", 1, "AGENT", ls_integration="langgraph", langgraph_node="agent_node"),
    )
    assert found == ["workflow_run flow", "  workflow_step agent_node"]


def test_a_subgraph_is_a_node_with_nodes() -> None:
    found = become(
        chain(1, "LangGraph"),
        chain(2, "outer", 1, langgraph_node="outer"),
        chain(3, "inner", 2, langgraph_node="inner"),
    )
    assert found == ["workflow_run LangGraph", "  workflow_step outer", "    workflow_step inner"]


def test_a_created_agent_without_a_name() -> None:
    made: dict[str, Any] = {"ls_integration": "langchain_create_agent"}
    found = become(
        chain(1, "LangGraph", **made),
        chain(2, "model", 1, langgraph_node="model", **made),
        chain(3, "tools", 1, langgraph_node="tools", **made),
        oi(4, "add", 3, **{"openinference.span.kind": "TOOL", "tool.name": "add"}),
    )
    assert found == ["agent_run LangGraph", "  tool_call add ok"]


def test_a_graph_inside_a_tool_of_an_agent_is_a_workflow() -> None:
    """Metadata is inherited: the graph and its node still carry the name of the agent around."""
    agent: dict[str, Any] = {"lc_agent_name": "boss", "ls_integration": "langchain_create_agent"}
    inner: dict[str, Any] = {"lc_agent_name": "boss", "ls_integration": "langgraph"}
    found = become(
        chain(1, "boss", **agent),
        oi(2, "search", 1, **{"openinference.span.kind": "TOOL", "tool.name": "search"}),
        chain(3, "LangGraph", 2, **inner),
        chain(4, "fetch", 3, langgraph_node="fetch", **inner),
    )
    assert found == [
        "agent_run boss",
        "  tool_call search ok",
        "    workflow_run LangGraph",
        "      workflow_step fetch",
    ]


def test_metadata_that_was_cut_leaves_a_chain_glue() -> None:
    cut = oi(2, "n", 1, **{"openinference.span.kind": "CHAIN", "metadata": '{"langgraph_node": "n'})
    assert become(chain(1, "x"), cut) == []


def test_an_interrupt_is_no_failure() -> None:
    stop = SpanEvent("exception", 3, {"exception.type": "langgraph.errors.GraphInterrupt"})
    (call,) = tools(
        oi(
            2,
            "ask",
            status_code="ERROR",
            status_message="GraphInterrupt((Interrupt(value='go on?'),))",
            events=(stop,),
            **{"openinference.span.kind": "TOOL", "tool.name": "ask"},
        )
    )
    assert (call.success, call.failure) == (True, None)


def test_one_run_recorded_by_three_spans() -> None:
    made = {"lc_agent_name": "boss", "ls_integration": "langchain_create_agent"}
    invoked = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "boss",
        "gen_ai.workflow.nodes": "['model', 'tools']",
    }
    found = become(
        tl(1, "invoke_agent boss", None, end_ns=99, **invoked),
        task(2, "boss", 1, "workflow", **made),
        task(3, "model", 2, langgraph_node="model", **made),
    )
    assert found == ["agent_run boss"]


def test_a_wrapper_that_lost_its_context_lies_beside_its_run() -> None:
    made = {"lc_agent_name": "boss", "ls_integration": "langchain_create_agent"}
    invoked = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "boss",
        "gen_ai.workflow.nodes": "['model', 'tools']",
    }
    found = become(
        task(1, "flow", None, "workflow", ls_integration="langgraph"),
        task(2, "node", 1, langgraph_node="node", ls_integration="langgraph"),
        tl(3, "invoke_agent boss", 2, end_ns=99, **invoked),
        task(4, "boss", 2, langgraph_node="node", **made),
        task(5, "model", 4, langgraph_node="model", **made),
    )
    assert found == ["workflow_run flow", "  workflow_step node", "    agent_run boss"]


def test_two_runs_of_one_agent_side_by_side_are_two() -> None:
    made = {"lc_agent_name": "boss", "ls_integration": "langchain_create_agent"}
    found = become(
        task(1, "flow", None, "workflow", ls_integration="langgraph"),
        *(task(i, "boss", 1, langgraph_node="node", **made) for i in (2, 4)),
        *(task(i + 1, "model", i, langgraph_node="model", **made) for i in (2, 4)),
    )
    assert found == ["workflow_run flow", "  agent_run boss", "  agent_run boss"]


def test_a_runnable_is_no_agent_though_its_operation_says_so() -> None:
    sequence = task(1, "RunnableSequence", None, "workflow", ls_integration="langchain_chat_model")
    assert become(sequence, task(2, "RunnableLambda", 1)) == []


def test_a_retriever_keeps_its_question_and_its_documents() -> None:
    (found,) = assemble(
        [
            tl(
                1,
                "vector_db_retrieve R",
                **{
                    "gen_ai.operation.name": "vector_db_retrieve",
                    "traceloop.span.kind": "task",
                    "traceloop.entity.name": "R",
                    "traceloop.entity.input": '{"query": "Paris?", "kwargs": {}}',
                    "traceloop.entity.output": '{"documents": [{"page_content": "18 C"}]}',
                },
            )
        ],
        Reader(),
    )
    (step,) = found.steps
    assert isinstance(step, RetrievalStep)
    assert (step.query, step.output) == ("Paris?", [{"page_content": "18 C"}])
    assert found.agents == ()
