"""Typed steps of a trajectory: the reference's fields per type, plus ours. Pydantic, for the edges.

One thing a newcomer would get wrong: unset is not null. A field that was never set does not
appear in the JSON; code asks `step.success is None` for *unknown* and never treats it as failed.
Inside the package steps are built with `model_construct` (no validation); from outside with
`Trajectory.model_validate`, which takes camelCase and snake_case.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from trajscope.model.reading import TOOL_STEP_TYPES, StepType
from trajscope.model.span import Json
from trajscope.model.value import Value


class BaseStep(Value):
    """What every step has: the reference's base fields, then where it comes from (ours).

    duration_ms: milliseconds; unset when start or end is unknown. start_ns and end_ns:
    nanoseconds since the Unix epoch. label: the span's display name. agent: name of the nearest
    enclosing agent run; agent_span_id its span. executed: False for a tool call that a model
    requested and that never ran. model_calls: calls of a model this step itself stands for.
    order: rank among all steps of the trace by start over all depths; equal starts by the order
    of the calls in the assistant message, else by span id. Unset on hand-written steps.
    """

    step_type: StepType
    name: str
    duration_ms: float | None = None
    metadata: dict[str, Json] | None = None
    children: tuple[Step, ...] = ()

    span_id: str | None = None
    trace_id: str | None = None
    label: str | None = None
    start_ns: int | None = None
    end_ns: int | None = None
    order: int | None = None
    agent: str | None = None
    agent_span_id: str | None = None
    failed: bool | None = None
    failure: str | None = None

    @property
    def is_tool(self) -> bool:
        """Whether the step is a tool call of any kind."""
        return self.step_type in TOOL_STEP_TYPES


class ToolStep(BaseStep):
    """Fields of the three tool step types. `tool_args` None means: not recorded.

    executed: False for a call that was requested and never ran. from_messages: the call has no
    span of its own and is known from the messages of the model call `span_id` points at.
    """

    tool_args: Json | None = None
    tool_result: Json | None = None
    success: bool | None = None
    tool_call_id: str | None = None
    executed: bool = True
    from_messages: bool = False


class ToolCallStep(ToolStep):
    """A tool the agent's own process ran."""

    step_type: Literal[StepType.TOOL_CALL] = StepType.TOOL_CALL


class McpToolCallStep(ToolStep):
    """A tool of an MCP server."""

    step_type: Literal[StepType.MCP_TOOL_CALL] = StepType.MCP_TOOL_CALL
    mcp_server: str | None = None


class ProviderToolCallStep(ToolStep):
    """A tool the model's provider ran on its side."""

    step_type: Literal[StepType.PROVIDER_TOOL_CALL] = StepType.PROVIDER_TOOL_CALL


class ModelGenerationStep(BaseStep):
    """A generation; it may stand for several model calls (`model_calls`)."""

    step_type: Literal[StepType.MODEL_GENERATION] = StepType.MODEL_GENERATION
    model_id: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish_reason: str | None = None
    model_calls: int | None = None
    cached_prompt_tokens: int | None = None


class AgentRunStep(BaseStep):
    """One run of an agent."""

    step_type: Literal[StepType.AGENT_RUN] = StepType.AGENT_RUN
    agent_id: str | None = None


class WorkflowRunStep(BaseStep):
    """One run of a workflow."""

    step_type: Literal[StepType.WORKFLOW_RUN] = StepType.WORKFLOW_RUN
    workflow_id: str | None = None
    status: str | None = None


class WorkflowStepStep(BaseStep):
    """One step of a workflow."""

    step_type: Literal[StepType.WORKFLOW_STEP] = StepType.WORKFLOW_STEP
    step_id: str | None = None
    status: str | None = None
    output: Json | None = None


class WorkflowConditionalStep(BaseStep):
    """A branch: how many conditions, which steps were selected."""

    step_type: Literal[StepType.WORKFLOW_CONDITIONAL] = StepType.WORKFLOW_CONDITIONAL
    condition_count: int | None = None
    selected_steps: tuple[str, ...] | None = None


class WorkflowParallelStep(BaseStep):
    """Steps run side by side."""

    step_type: Literal[StepType.WORKFLOW_PARALLEL] = StepType.WORKFLOW_PARALLEL
    branch_count: int | None = None
    parallel_steps: tuple[str, ...] | None = None


class WorkflowLoopStep(BaseStep):
    """A loop of a workflow."""

    step_type: Literal[StepType.WORKFLOW_LOOP] = StepType.WORKFLOW_LOOP
    loop_type: str | None = None
    total_iterations: int | None = None


class WorkflowSleepStep(BaseStep):
    """A pause; `sleep_duration_ms` is what was asked for, in milliseconds."""

    step_type: Literal[StepType.WORKFLOW_SLEEP] = StepType.WORKFLOW_SLEEP
    sleep_duration_ms: float | None = None
    sleep_type: str | None = None


class WorkflowWaitEventStep(BaseStep):
    """A wait for an event."""

    step_type: Literal[StepType.WORKFLOW_WAIT_EVENT] = StepType.WORKFLOW_WAIT_EVENT
    event_name: str | None = None
    event_received: bool | None = None


class ProcessorRunStep(BaseStep):
    """One run of an input or output processor."""

    step_type: Literal[StepType.PROCESSOR_RUN] = StepType.PROCESSOR_RUN
    processor_id: str | None = None


class RetrievalStep(BaseStep):
    """A look-up in a document or vector store."""

    step_type: Literal[StepType.RETRIEVAL] = StepType.RETRIEVAL
    query: Json | None = None
    output: Json | None = None


class EmbeddingStep(BaseStep):
    """A call of an embedding model."""

    step_type: Literal[StepType.EMBEDDING] = StepType.EMBEDDING
    model_id: str | None = None


class GuardrailStep(BaseStep):
    """A check of input or output; `triggered` None means it is not recorded."""

    step_type: Literal[StepType.GUARDRAIL] = StepType.GUARDRAIL
    triggered: bool | None = None


class HandoffStep(BaseStep):
    """One agent passing the conversation to another."""

    step_type: Literal[StepType.HANDOFF] = StepType.HANDOFF
    from_agent: str | None = None
    to_agent: str | None = None


STEP_CLASSES: dict[StepType, type[BaseStep]] = {
    StepType.TOOL_CALL: ToolCallStep,
    StepType.MCP_TOOL_CALL: McpToolCallStep,
    StepType.PROVIDER_TOOL_CALL: ProviderToolCallStep,
    StepType.MODEL_GENERATION: ModelGenerationStep,
    StepType.AGENT_RUN: AgentRunStep,
    StepType.WORKFLOW_RUN: WorkflowRunStep,
    StepType.WORKFLOW_STEP: WorkflowStepStep,
    StepType.WORKFLOW_CONDITIONAL: WorkflowConditionalStep,
    StepType.WORKFLOW_PARALLEL: WorkflowParallelStep,
    StepType.WORKFLOW_LOOP: WorkflowLoopStep,
    StepType.WORKFLOW_SLEEP: WorkflowSleepStep,
    StepType.WORKFLOW_WAIT_EVENT: WorkflowWaitEventStep,
    StepType.PROCESSOR_RUN: ProcessorRunStep,
    StepType.RETRIEVAL: RetrievalStep,
    StepType.EMBEDDING: EmbeddingStep,
    StepType.GUARDRAIL: GuardrailStep,
    StepType.HANDOFF: HandoffStep,
}
"""The class of each step type."""


def _tag_of(value: Any) -> str | None:
    found = (
        value.get("stepType", value.get("step_type"))
        if isinstance(value, dict)
        else getattr(value, "step_type", None)
    )
    return found.lower() if isinstance(found, str) else None


def _with_lower_type(value: Any) -> Any:
    tag = _tag_of(value)
    if isinstance(value, dict) and tag is not None:
        rest = {k: v for k, v in value.items() if k not in ("stepType", "step_type")}
        known = tag in StepType.__members__.values()
        return {"stepType": StepType(tag) if known else tag, **rest}
    return value


Step = Annotated[
    Annotated[ToolCallStep, Tag("tool_call")]
    | Annotated[McpToolCallStep, Tag("mcp_tool_call")]
    | Annotated[ProviderToolCallStep, Tag("provider_tool_call")]
    | Annotated[ModelGenerationStep, Tag("model_generation")]
    | Annotated[AgentRunStep, Tag("agent_run")]
    | Annotated[WorkflowRunStep, Tag("workflow_run")]
    | Annotated[WorkflowStepStep, Tag("workflow_step")]
    | Annotated[WorkflowConditionalStep, Tag("workflow_conditional")]
    | Annotated[WorkflowParallelStep, Tag("workflow_parallel")]
    | Annotated[WorkflowLoopStep, Tag("workflow_loop")]
    | Annotated[WorkflowSleepStep, Tag("workflow_sleep")]
    | Annotated[WorkflowWaitEventStep, Tag("workflow_wait_event")]
    | Annotated[ProcessorRunStep, Tag("processor_run")]
    | Annotated[RetrievalStep, Tag("retrieval")]
    | Annotated[EmbeddingStep, Tag("embedding")]
    | Annotated[GuardrailStep, Tag("guardrail")]
    | Annotated[HandoffStep, Tag("handoff")],
    Discriminator(_tag_of),
    BeforeValidator(_with_lower_type),
    Field(description="A typed step, told apart by stepType."),
]
"""A typed step: the discriminated union over `step_type`."""

_DEFAULTS = {
    kind: {name: field.get_default() for name, field in cls.model_fields.items()}
    for kind, cls in STEP_CLASSES.items()
}


def build_step(step_type: StepType, values: dict[str, Any]) -> BaseStep:
    """Return a step of `step_type` from known-good `values` (field name to value), unvalidated.

    `model_construct` does the same in ten times the time; this runs once per step of a trace.

    >>> build_step(StepType.AGENT_RUN, {"name": "boss"}).model_dump(mode="json")
    {'step_type': 'agent_run', 'name': 'boss'}
    """
    cls = STEP_CLASSES[step_type]
    step = cls.__new__(cls)
    object.__setattr__(step, "__dict__", {**_DEFAULTS[step_type], **values})
    object.__setattr__(step, "__pydantic_fields_set__", {"step_type", *values})
    object.__setattr__(step, "__pydantic_extra__", None)
    object.__setattr__(step, "__pydantic_private__", None)
    return step
