import { z } from 'zod'
import { type InputIssue, invalidAt, invalidRequest } from '../api/parse.js'
import { ok, type Result, refuse } from '../errors/fault.js'
import type { HttpRequest } from './app.js'

/**
 * Assembles an operation's raw input from path, query and body. A query holds only text, so fields
 * that the schema defines as integers are converted; everything else is left to the schema.
 */

const QUERY_CHARS_MAX = 4_096
const QUERY_PARAMETERS_MAX = 32
/** 16 digits exceed the largest safe integer, which is checked afterwards. */
const INTEGER = /^\d{1,16}$/

export type RawInput = Readonly<Record<string, unknown>>

/** What is known of a route's input at the start. */
export interface InputPlan {
  /** Names of the path's parameters, in order. */
  readonly pathParameters: readonly string[]
  readonly integerFields: ReadonlySet<string>
}

export function planInput(path: string, schema: z.ZodType): InputPlan {
  return {
    pathParameters: [...path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? ''),
    integerFields: integerFieldsOf(schema),
  }
}

function integerFieldsOf(schema: z.ZodType): ReadonlySet<string> {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input' })
  const integers = Object.entries(properties).filter(
    ([, property]) => typeof property === 'object' && property.type === 'integer',
  )
  return new Set(integers.map(([name]) => name))
}

/** Call it in the route's callback. */
export function readPath(request: HttpRequest, plan: InputPlan): Result<RawInput> {
  if (plan.pathParameters.length === 0) return ok({})
  const input: Record<string, unknown> = {}
  for (const [i, name] of plan.pathParameters.entries()) {
    const value = decode(request.getParameter(i))
    if (value === null) return refuse(invalidAt(name, 'is not valid percent-encoded UTF-8'))
    input[name] = value
  }
  return ok(input)
}

/** Call it in the route's callback. A path parameter must not appear in the query as well. */
export function readPathAndQuery(request: HttpRequest, plan: InputPlan): Result<RawInput> {
  const path = readPath(request, plan)
  if (!path.ok) return path
  // The types promise a string, but without a question mark it is undefined.
  const query: string | undefined = request.getQuery()
  return query === undefined || query === ''
    ? path
    : readQuery(query, path.value, plan.integerFields)
}

/** @param query without its question mark */
export function readQuery(
  query: string,
  base: RawInput,
  integerFields: ReadonlySet<string>,
): Result<RawInput> {
  if (query.length > QUERY_CHARS_MAX) {
    return refuse(invalidAt('', `the query is limited to ${QUERY_CHARS_MAX} characters`))
  }
  const pairs = query.split('&', QUERY_PARAMETERS_MAX + 1).filter((pair) => pair !== '')
  if (pairs.length > QUERY_PARAMETERS_MAX) {
    return refuse(invalidAt('', `the query is limited to ${QUERY_PARAMETERS_MAX} parameters`))
  }
  const input = new Map<string, unknown>(Object.entries(base))
  const issues: InputIssue[] = []
  for (const pair of pairs) {
    const equals = pair.indexOf('=')
    const name = decode(plusToSpace(equals === -1 ? pair : pair.slice(0, equals)))
    const text = decode(plusToSpace(equals === -1 ? '' : pair.slice(equals + 1)))
    if (name === null || text === null) {
      return refuse(invalidAt(name ?? '', 'is not valid percent-encoded UTF-8'))
    }
    const value = integerFields.has(name) ? parseInteger(text) : text
    if (input.has(name)) issues.push({ path: name.slice(0, 64), message: 'is given twice' })
    else if (value === null) issues.push({ path: name, message: 'must be a decimal integer' })
    else input.set(name, value)
  }
  if (issues.length > 0) return refuse(invalidRequest(issues))
  return ok(Object.fromEntries(input))
}

/** Joins path and body; a path parameter must not appear in the body as well. */
export function mergePathAndBody(path: RawInput, body: RawInput): Result<RawInput> {
  for (const name of Object.keys(path)) {
    if (Object.hasOwn(body, name)) return refuse(invalidAt(name, 'is given by the path'))
  }
  return ok({ ...body, ...path })
}

function parseInteger(text: string): number | null {
  if (!INTEGER.test(text)) return null
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : null
}

function plusToSpace(text: string): string {
  return text.includes('+') ? text.replaceAll('+', ' ') : text
}

function decode(text: string): string | null {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
