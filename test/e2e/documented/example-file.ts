import type { ReadyDevFile } from '../../support/ready-dev-file.js'
import type { Input } from './scenario.js'

/** What a run recorded, as the module that documents read. */

export interface RecordedExample {
  readonly input: Input
  readonly status: number
  readonly answer: unknown
}

export function recordedExample(input: Input, status: number, answer: unknown): RecordedExample {
  return { input, status, answer }
}

/** Lists show a few entries: a page that documents show is read by people. */
const SHOWN_MAX = 2

/**
 * Secrets are left out, and addresses of this run are those of a usual development instance.
 * @returns TypeScript
 */
export function exampleFile(
  recorded: Readonly<Record<string, RecordedExample>>,
  events: Readonly<Record<string, unknown>>,
  dev: ReadyDevFile,
  hookUrl: string,
): string {
  const shown = (value: unknown) => shownText(value, dev, hookUrl)
  return `import type { JsonValue } from '../json-schema.js'

/**
 * One request and answer of each operation, recorded from a development instance by
 * \`RECORD_EXAMPLES=1 node scripts/run.mjs --test test/e2e/documented-calls.test.ts\`. Never edit it.
 */

export interface RecordedExample {
  readonly input: Readonly<Record<string, JsonValue>>
  readonly status: number
  readonly answer: Readonly<Record<string, JsonValue>>
}

export const RECORDED_EXAMPLES: Readonly<Record<string, RecordedExample>> = ${shown(recorded)}

/** \`data\` of an event of each type that the run emitted. */
export const RECORDED_EVENTS: Readonly<Record<string, Readonly<Record<string, JsonValue>>>> = ${shown(events)}
`
}

function shownText(value: unknown, dev: ReadyDevFile, hookUrl: string): string {
  return JSON.stringify(shortened(value), null, 2)
    .replaceAll(dev.base_url, 'http://127.0.0.1:8080')
    .replaceAll(hookUrl, 'https://example.com/hooks/countersign')
    .replaceAll(/http:\/\/127\.0\.0\.1:(?!8080)\d+/g, 'http://127.0.0.1:3100')
    .replaceAll(/"sk_test_[^"]{20,}"/g, '"sk_test_shown-once"')
    .replaceAll(/"whsec_[^"]+"/g, '"whsec_shown-once"')
    .replaceAll(/"[0-9a-f]{12}@example\.com"/g, '"ada@example.com"')
}

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, SHOWN_MAX).map(shortened)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one)]))
}
