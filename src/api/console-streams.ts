import { z } from 'zod'
import type { ErrorCode } from '../errors/catalogue.js'
import { eventRecord, listEventsInput } from './console-webhooks.js'

/** A console route that answers with an event stream (WHATWG HTML, section 9.2) and continues. */
export interface ConsoleStreamRow {
  readonly name: string
  readonly method: 'GET'
  readonly path: string
  readonly needs: readonly ['read']
  readonly title: string
  readonly description: string
  readonly input: z.ZodType
  /** The schema of each event's `data:`, as JSON. */
  readonly output: z.ZodType
  readonly errors: readonly ErrorCode[]
}

export const eventStream = {
  name: 'stream_events',
  method: 'GET',
  path: '/api/v1/agent/events/stream',
  needs: ['read'],
  title: 'Follow the event log as it grows',
  description:
    'Server-sent events: `id` is the seq, `event` the type, `data` the event as `list_events` gives it. `Last-Event-ID`, or `after`, resumes without a gap; without either it begins with what comes next. The first event is `stream.opened`, whose `id` is where it begins. `stream.closed` ends it, with a `reason`: `token_ended`, `shutting_down`, or an error code. A comment comes when there was nothing for some seconds.',
  input: z.strictObject({
    after: listEventsInput.shape.after.describe(
      'a seq; `Last-Event-ID` takes precedence. Default: only new events',
    ),
  }),
  output: eventRecord,
  errors: ['OVERLOADED'],
} as const satisfies ConsoleStreamRow
