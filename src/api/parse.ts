import type { z } from 'zod'
import { type Fault, fault, ok, type Result, refuse } from '../errors/fault.js'
import { describeIssue } from './issue-words.js'

/**
 * The one place where an outside input becomes an operation's typed input, for REST and MCP alike.
 * Refusals name each offending path and never repeat a value.
 */

const ISSUES_MAX = 20
const PATH_CHARS_MAX = 64
const MESSAGE_CHARS_MAX = 200
const OPENINGS = ['is missing: give ', 'must be ', 'must ']
/** Stands for the whole input in `details.issues[].path`. */
const ROOT_PATH = '$'

export interface InputIssue {
  /** Dotted path such as `a.b.0`, or `$` for the input itself. */
  readonly path: string
  readonly message: string
}

/**
 * Schemas that accept an empty object and return it unchanged, as those of most reads, which have
 * no input.
 */
const takesNothing = new WeakSet<z.ZodType>()
const NOTHING: object = Object.freeze({})

/** @returns the typed input, or `INVALID_REQUEST` with `details.issues` (at most 20) */
export function parseInput<S extends z.ZodType>(schema: S, input: unknown): Result<z.output<S>> {
  const isEmpty = isEmptyObject(input)
  if (isEmpty && takesNothing.has(schema)) return ok(NOTHING as z.output<S>)
  const parsed = schema.safeParse(input)
  if (parsed.success) {
    if (isEmpty && isEmptyObject(parsed.data)) takesNothing.add(schema)
    return ok(parsed.data)
  }
  // Parsed again for its texts, so that accepted inputs do not pay for them.
  const { error } = schema.safeParse(input, { error: describeIssue })
  return refuse(invalidRequest(readIssues(error?.issues ?? [], [])))
}

/** `INVALID_REQUEST` for a fault found before or outside the schema. */
export function invalidRequest(issues: readonly InputIssue[]): Fault {
  const [first] = issues
  const details = { issues: issues.slice(0, ISSUES_MAX) }
  if (first === undefined) return fault('INVALID_REQUEST', details)
  return fault('INVALID_REQUEST', details, inSentence(first, issues.length - 1))
}

/** Agents often read only the message. */
function inSentence({ path, message }: InputIssue, others: number): string {
  const subject = path === ROOT_PATH ? 'The request' : `The request is malformed: ${path}`
  const more = others === 0 ? '' : ` (and ${others} more in details.issues)`
  return `${subject} ${message.replace(/\.$/, '')}${more}.`
}

/** `INVALID_REQUEST` with a single issue. */
export function invalidAt(path: string, message: string): Fault {
  return invalidRequest([issueAt([path === '' ? ROOT_PATH : path], message)])
}

type ZodIssue = z.core.$ZodIssue

function readIssues(issues: readonly ZodIssue[], prefix: readonly PropertyKey[]): InputIssue[] {
  const out: InputIssue[] = []
  for (const issue of issues) {
    if (out.length >= ISSUES_MAX) break
    const path = [...prefix, ...issue.path]
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, ISSUES_MAX - out.length)) {
        out.push(issueAt([...path, key], issue.message))
      }
    } else if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      out.push(...readUnion(issue.errors, path))
    } else {
      out.push(issueAt(path, issue.message))
    }
  }
  return out
}

/**
 * A union fails once per branch. Branches of a scalar are reported together; of object branches,
 * the one with the fewest complaints is most likely the intended one.
 */
function readUnion(branches: readonly ZodIssue[][], path: readonly PropertyKey[]): InputIssue[] {
  const scalar = branches.every((b) => b.every((i) => i.path.length === 0 && !('keys' in i)))
  if (scalar) {
    const messages = new Set(branches.flatMap((b) => b.map((i) => i.message)))
    return [issueAt(path, joinChoices([...messages]))]
  }
  const closest = branches.reduce((best, b) => (b.length < best.length ? b : best))
  return readIssues(closest, path)
}

/** A common beginning of the choices is written once. */
function joinChoices([first = '', ...others]: readonly string[]): string {
  const opening = OPENINGS.find((it) => first.startsWith(it)) ?? ''
  const rest = others.map((it) => (it.startsWith(opening) ? it.slice(opening.length) : it))
  return [first, ...rest].join(', or ')
}

function issueAt(path: readonly PropertyKey[], message: string): InputIssue {
  const dotted = path.length === 0 ? ROOT_PATH : path.map(String).join('.')
  return { path: clip(dotted, PATH_CHARS_MAX), message: clip(message, MESSAGE_CHARS_MAX) }
}

function isEmptyObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  for (const _ in value) return false
  return true
}

function clip(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`
}
