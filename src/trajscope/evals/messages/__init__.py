"""Helpers for scorers that look at messages: texts, reasoning, system prompts, tool calls.

Each takes messages of any library (`evals.adapters`) and answers as the documentation says;
`compat="mastra"` answers as the reference does, on its JSON, to the letter. One thing a newcomer
would get wrong: None is "there is none"; an output that holds no messages at all is an error, since
nothing can be read from it.
"""

from trajscope.evals.messages.builders import (
    create_agent_test_run,
    create_test_message,
    create_tool_invocation,
    is_scorer_run_input_for_agent,
    is_scorer_run_output_for_agent,
    round_to_two_decimals,
)
from trajscope.evals.messages.inputs import (
    extract_input_messages,
    get_combined_system_prompt,
    get_conversation_history_from_run_input,
    get_system_messages_from_run_input,
    get_user_message_from_run_input,
)
from trajscope.evals.messages.outputs import (
    extract_agent_response_messages,
    get_assistant_message_from_run_output,
    get_reasoning_from_run_output,
    get_text_content,
)
from trajscope.evals.messages.tools import (
    ToolCallInfo,
    ToolCalls,
    ToolResult,
    extract_tool_calls,
    extract_tool_results,
    merge_tool_invocations,
)
from trajscope.evals.messages.trajectory import extract_trajectory
from trajscope.evals.messages.workflow import extract_workflow_trajectory

__all__ = [
    "ToolCallInfo",
    "ToolCalls",
    "ToolResult",
    "create_agent_test_run",
    "create_test_message",
    "create_tool_invocation",
    "extract_agent_response_messages",
    "extract_input_messages",
    "extract_tool_calls",
    "extract_tool_results",
    "extract_trajectory",
    "extract_workflow_trajectory",
    "get_assistant_message_from_run_output",
    "get_combined_system_prompt",
    "get_conversation_history_from_run_input",
    "get_reasoning_from_run_output",
    "get_system_messages_from_run_input",
    "get_text_content",
    "get_user_message_from_run_input",
    "is_scorer_run_input_for_agent",
    "is_scorer_run_output_for_agent",
    "merge_tool_invocations",
    "round_to_two_decimals",
]
