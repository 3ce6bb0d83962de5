-- A finding as `scored.findings` holds it.
CREATE MACRO finding(rule, message, severity, verdict, trace_id, span_ids, steps) AS {
    'rule': rule,
    'message': message,
    'severity': severity,
    'verdict': verdict,
    'trace_id': trace_id,
    'span_ids': span_ids::VARCHAR[],
    'steps': steps::VARCHAR[]
};
