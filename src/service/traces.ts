import { randomBytes } from 'node:crypto'
import type { StepReport } from '../../actors/runtime/protocol.js'
import { operations } from '../api/operations.js'
import type { AgentContext, AgentHandlers, Answer } from '../operations/context.js'
import { createOtlpExporter, type Span, type SpanExporter } from './otlp-exporter.js'

/**
 * Records a span for each call of an agent, and below it a span for each step of the call's
 * transaction. A span contains ids, a chain, a step and a code, but nothing of the call's contents.
 * Without a collector no traces exist and the handlers are unchanged.
 */
interface Traces {
  /**
   * Begins a trace for an incoming request.
   * @param traceparent header of W3C Trace Context; empty without one
   */
  heard(route: string, requestId: string, traceparent: string): void
  /** Wraps the handlers so that each call is a span. */
  around(handlers: AgentHandlers): AgentHandlers
  step(report: StepReport): void
  close(): Promise<void>
}

interface Trace {
  readonly traceId: string
  readonly parentSpanId: string | null
  readonly spanId: string
  /** False if the caller does not record its trace; then this service does not either. */
  readonly sampled: boolean
  readonly isTool: boolean
  startMs: number
  /** When the latest step of its transaction ended, in milliseconds; 0 before the first. */
  steppedMs: number
}

type Handler = (context: AgentContext, input: never) => Answer<unknown> | Promise<Answer<unknown>>

/**
 * The most requests whose transactions may still continue; beyond it the oldest traces are dropped.
 */
const TRACES_MAX = 20_000
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
const NONE = /^0+$/
const SAMPLED = 1
const TRACE_BYTES = 16
const SPAN_BYTES = 8
const ENDS: ReadonlySet<string> = new Set(['confirmed', 'failed', 'dropped', 'refused'])

/**
 * @param endpoint the OTLP/HTTP URL of a collector
 * @param nowMs returns milliseconds since the epoch, by the clock of the step reports
 * @returns null without a collector
 */
export function openTraces(
  endpoint: string | null,
  log: Parameters<typeof createOtlpExporter>[1],
  nowMs: () => number,
): Traces | null {
  return endpoint === null ? null : createTraces(createOtlpExporter(endpoint, log), nowMs)
}

function createTraces(exporter: SpanExporter, nowMs: () => number): Traces {
  const traces = new Map<string, Trace>()

  function begin(requestId: string, isTool: boolean, traceparent: string): Trace {
    const [, traceId, parentSpanId, flags] = TRACEPARENT.exec(traceparent) ?? []
    const isGiven =
      traceId !== undefined &&
      parentSpanId !== undefined &&
      !NONE.test(traceId) &&
      !NONE.test(parentSpanId)
    const trace = {
      traceId: isGiven ? traceId : drawHex(TRACE_BYTES),
      parentSpanId: isGiven ? parentSpanId : null,
      spanId: drawHex(SPAN_BYTES),
      sampled: !isGiven || (Number.parseInt(flags ?? '00', 16) & SAMPLED) === SAMPLED,
      isTool,
      startMs: nowMs(),
      steppedMs: 0,
    }
    if (traces.size >= TRACES_MAX) {
      const [oldest] = traces.keys()
      if (oldest !== undefined) traces.delete(oldest)
    }
    traces.set(requestId, trace)
    return trace
  }

  function add(trace: Trace, span: Omit<Span, 'traceId'>): void {
    if (trace.sampled) exporter.add({ traceId: trace.traceId, ...span })
  }

  function tracing(name: string, movesValue: boolean, handler: Handler): Handler {
    return (context, input) => {
      const { requestId } = context
      const trace = traces.get(requestId) ?? begin(requestId, false, '')
      const beganMs = nowMs()
      trace.startMs = beganMs
      const end = (code: string | null) => {
        if (!movesValue) traces.delete(requestId)
        add(trace, {
          ...{ spanId: trace.spanId, parentSpanId: trace.parentSpanId, kind: 'server' },
          ...{ startMs: beganMs, endMs: nowMs(), failed: code !== null },
          name: trace.isTool ? `tools/call ${name}` : name,
          attributes: {
            ...(trace.isTool ? toolAttributes(name) : { 'countersign.operation': name }),
            'countersign.request_id': requestId,
            ...(code === null ? {} : { 'error.type': code }),
          },
        })
      }
      const pending = handler(context, input)
      if (!('then' in pending)) {
        end(pending.ok ? null : pending.fault.code)
        return pending
      }
      return pending.then(
        (answer) => {
          end(answer.ok ? null : answer.fault.code)
          return answer
        },
        (error: unknown) => {
          end('INTERNAL')
          throw error
        },
      )
    }
  }

  function stepSpan(trace: Trace, report: StepReport, name: string, startMs: number): void {
    const { txId, chainId, code, atMs } = report
    add(trace, {
      ...{ spanId: drawHex(SPAN_BYTES), parentSpanId: trace.spanId, kind: 'internal', name },
      // Two threads read the clock; the maximum keeps a step from ending before it starts.
      ...{ startMs, endMs: Math.max(startMs, atMs), failed: code !== null },
      attributes: {
        'countersign.tx_id': txId,
        'countersign.chain_id': chainId,
        ...(code === null ? {} : { 'error.type': code }),
      },
    })
  }

  return {
    heard: (route, requestId, traceparent) => void begin(requestId, route === 'mcp', traceparent),
    around(handlers) {
      const traced: Record<string, Handler> = { ...handlers }
      for (const { name, movesValue } of operations) {
        traced[name] = tracing(name, movesValue, handlers[name])
      }
      return traced as unknown as AgentHandlers
    },
    step(report) {
      const trace = traces.get(report.requestId)
      if (trace === undefined) return
      const { step, atMs } = report
      if (trace.steppedMs === 0) {
        stepSpan(trace, { ...report, atMs: trace.startMs, code: null }, 'accepted', trace.startMs)
        stepSpan(trace, { ...report, code: null }, 'prepared', trace.startMs)
      }
      stepSpan(trace, report, step, trace.steppedMs === 0 ? atMs : trace.steppedMs)
      trace.steppedMs = atMs
      if (ENDS.has(step)) traces.delete(report.requestId)
    },
    close: exporter.close,
  }
}

/** Attributes that OpenTelemetry's conventions define for MCP and for agent tools. */
function toolAttributes(name: string): Span['attributes'] {
  return {
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
  }
}

function drawHex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
