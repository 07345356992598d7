import type { z } from 'zod'
import type { ConsoleOperation } from '../api/console-operations.js'
import type { Operation } from '../api/operations.js'
import { ApiError, answerOf, noAnswer } from './answers.js'
import type { OpenApiDocument } from './playground/documented.js'
import { accessToken } from './session/session.js'

/**
 * Calls of the service's documented operations. Their types come from the table that makes the
 * OpenAPI document, so a path that does not exist does not compile.
 */
type Method = ConsoleOperation['method']
type PathOf<M extends Method> = Extract<ConsoleOperation, { method: M }>['path']
type Row<M extends Method, P extends string> = Extract<ConsoleOperation, { method: M; path: P }>
export type Input<M extends Method, P extends string> = z.input<Row<M, P>['input']>
export type Output<M extends Method, P extends string> = z.output<Row<M, P>['output']>

/** Writes wait for both halves of the quorum. */
const TIMEOUT_MS = 30_000

/** @throws ApiError */
export async function call<M extends Method, P extends PathOf<M>>(
  method: M,
  path: P,
  input: Input<M, P>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Output<M, P>> {
  const request = requestOf(method, path, input as Readonly<Record<string, unknown>>)
  const send = async (token: string) =>
    answerOf(
      await fetch(request.url, {
        method,
        headers: { ...headers, ...request.headers, Authorization: `Bearer ${token}` },
        ...(request.body === undefined ? {} : { body: request.body }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).catch(noAnswer),
    )
  const token = await accessToken()
  try {
    return (await send(token)) as Output<M, P>
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'INVALID_TOKEN') throw error
    return (await send(await accessToken(token))) as Output<M, P>
  }
}

type AgentMethod = Operation['method']
type AgentPath<M extends AgentMethod> = Extract<Operation, { method: M }>['path']
type AgentRow<M extends AgentMethod, P extends string> = Extract<Operation, { method: M; path: P }>
type AgentInput<M extends AgentMethod, P extends string> = z.input<AgentRow<M, P>['input']>
export type AgentOutput<M extends AgentMethod, P extends string> = z.output<
  AgentRow<M, P>['output']
>

/**
 * A call as an agent makes it, with the secret of an API key. Signing requires the proof of a live
 * key, which a person's token is not.
 * @param idempotencyKey for a call that moves value: the same key for the same request
 * @throws ApiError
 */
export async function callWithKey<M extends AgentMethod, P extends AgentPath<M>>(
  secret: string,
  method: M,
  path: P,
  input: AgentInput<M, P>,
  idempotencyKey?: string,
): Promise<AgentOutput<M, P>> {
  const request = requestOf(method, path, input as Readonly<Record<string, unknown>>)
  const answer = await fetch(request.url, {
    method,
    headers: {
      ...request.headers,
      'X-Api-Key': secret,
      ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
    },
    ...(request.body === undefined ? {} : { body: request.body }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(noAnswer)
  return (await answerOf(answer)) as AgentOutput<M, P>
}

/** Reads the status of each part, which needs no token. @throws ApiError */
export async function readReadiness(): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch('/readyz', { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    noAnswer,
  )
  const body: unknown = await response.json().catch(() => null)
  // A 503 tells which part is not ready.
  if (typeof body === 'object' && body !== null && response.status !== 404) return { ...body }
  throw new ApiError(response.status, { code: 'UNKNOWN', message: 'The service sent no answer.' })
}

/** Reads the service's OpenAPI document. @throws ApiError */
export async function readOpenApi(): Promise<OpenApiDocument> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  return (await answerOf(
    await fetch('/openapi.json', { signal }).catch(noAnswer),
  )) as OpenApiDocument
}

function requestOf(
  method: Method | AgentMethod,
  path: string,
  input: Readonly<Record<string, unknown>>,
): { url: string; headers: Readonly<Record<string, string>>; body?: string } {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const filled = path.replace(/:(\w+)/g, (_all, name: string) => {
    const value = String(rest.get(name))
    rest.delete(name)
    return encodeURIComponent(value)
  })
  if (method === 'GET' || method === 'DELETE') {
    const query = new URLSearchParams([...rest].map(([name, value]) => [name, String(value)]))
    return { url: rest.size === 0 ? filled : `${filled}?${query}`, headers: {} }
  }
  return {
    url: filled,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(rest)),
  }
}
