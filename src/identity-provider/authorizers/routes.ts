import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { Refusal, type RefusalCode } from '../../quorum-protocol/refusal.js'
import { approveCall, declineCall, waitingCall } from '../approvals/approval-api.js'
import { FRESH_SIGN_IN_SECONDS } from '../login/audiences.js'
import { lastAnswer } from '../login/bounded-body.js'
import type { AuthorizerCeremonies, BegunCertificate } from './ceremonies.js'
import { createCeremonyRate } from './ceremony-rate.js'
import { RequestRefusedError, readJson } from './json-body.js'
import { type PageDeps, servePage } from './page-routes.js'
import { requireVisitor, type Visitor } from './visitor.js'
import {
  approveBody,
  authorizerJson,
  base64Url,
  beginBody,
  confirmBody,
  finishBody,
  recoverBody,
  removeBody,
  waitingBody,
} from './wire.js'

interface AuthorizerRouteDeps extends PageDeps {
  readonly log: Logger
}

type Api = (
  deps: AuthorizerRouteDeps,
  request: IncomingMessage,
  visitor: Visitor,
) => Promise<object>

const API: Readonly<Record<string, { readonly method: 'GET' | 'POST'; readonly answer: Api }>> = {
  '/authorizers/api/list': { method: 'GET', answer: list },
  '/authorizers/api/begin': { method: 'POST', answer: begin },
  '/authorizers/api/finish': { method: 'POST', answer: finish },
  '/authorizers/api/waiting': { method: 'POST', answer: waiting },
  '/authorizers/api/approve': { method: 'POST', answer: approve },
  '/authorizers/api/recover': { method: 'POST', answer: recover },
  '/authorizers/api/remove': { method: 'POST', answer: remove },
  '/authorizers/api/confirm': { method: 'POST', answer: confirm },
  '/authorizers/api/call': { method: 'POST', answer: waitingCall },
  '/authorizers/api/approve-call': { method: 'POST', answer: approveCall },
  '/authorizers/api/decline-call': { method: 'POST', answer: declineCall },
}

/**
 * Serves the routes below `/authorizers` and `/approve`: pages for people, JSON for pages and the
 * command line.
 * @returns false when the path belongs to no route here
 */
export function createAuthorizerRoutes(deps: AuthorizerRouteDeps) {
  const admit = createCeremonyRate()
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    if (!/^\/(authorizers|approve)(\/|$)/.test(path)) return false
    const route = Object.hasOwn(API, path) ? API[path] : undefined
    if (route === undefined) return servePage(deps, path, request, response)
    try {
      if (request.method !== route.method) {
        response.setHeader('Allow', route.method)
        throw new RequestRefusedError(405, 'METHOD_NOT_ALLOWED', `Use ${route.method}.`)
      }
      const visitor = await requireVisitor(deps, request, response)
      admit(visitor.userId)
      send(response, 200, await route.answer(deps, request, visitor))
    } catch (error) {
      if (response.headersSent) throw error
      sendFailure(deps.log, response, error)
    }
    return true
  }
}

async function list(
  { ceremonies, webauthn }: AuthorizerRouteDeps,
  _request: unknown,
  visitor: Visitor,
) {
  return {
    user_id: visitor.userId,
    rp_id: webauthn()?.rpId ?? null,
    authorizers: ceremonies.list(visitor.userId).map(authorizerJson),
  }
}

async function begin(
  { ceremonies, webauthn, accounts }: AuthorizerRouteDeps,
  request: IncomingMessage,
  visitor: Visitor,
): Promise<object> {
  const { userId } = visitor
  const body = await readJson(request, beginBody)
  const present = ceremonies.list(userId)
  if (present.length === 0) requireFresh(visitor, 'Sign in again to add the first one.')
  if (body.kind === 'p256')
    return certificateJson(ceremonies.beginKey(userId, body.label, body.public_key))
  const { ceremonyId, challenge } = ceremonies.beginPasskey(userId, body.label)
  return {
    ceremony_id: ceremonyId,
    challenge: base64Url(challenge),
    rp_id: webauthn()?.rpId ?? null,
    user: { id: base64Url(Buffer.from(userId)), name: accounts.findById(userId)?.email ?? userId },
    exclude: present.map(authorizerJson).map(({ credential_id }) => credential_id),
  }
}

async function finish(
  { ceremonies }: AuthorizerRouteDeps,
  request: IncomingMessage,
  visitor: Visitor,
) {
  const body = await readJson(request, finishBody)
  const possession =
    'signature' in body
      ? body.signature
      : { attestationObject: body.attestation_object, clientDataJson: body.client_data_json }
  const open = await ceremonies.finish(visitor.userId, body.ceremony_id, possession)
  if (open === null) return done(ceremonies, visitor)
  return { status: 'approval_required', ...certificateJson(open), ...listed(ceremonies, visitor) }
}

async function waiting(
  { ceremonies }: AuthorizerRouteDeps,
  request: IncomingMessage,
  visitor: Visitor,
) {
  const { ceremony_id } = await readJson(request, waitingBody)
  const open = ceremonies.waiting(visitor.userId, ceremony_id)
  return { status: 'approval_required', ...certificateJson(open), ...listed(ceremonies, visitor) }
}

async function approve(
  { ceremonies }: AuthorizerRouteDeps,
  request: IncomingMessage,
  visitor: Visitor,
) {
  const { ceremony_id, proof } = await readJson(request, approveBody)
  await ceremonies.approve(visitor.userId, ceremony_id, proof)
  return done(ceremonies, visitor)
}

/**
 * A recovery is confirmed by no existing authorizer, so it needs a fresh sign-in, as the first one
 * does.
 */
async function recover(
  { ceremonies }: AuthorizerRouteDeps,
  request: IncomingMessage,
  visitor: Visitor,
) {
  const body = await readJson(request, recoverBody)
  requireFresh(visitor, 'Sign in again to recover.')
  await ceremonies.recover(visitor.userId, {
    certificate: body.certificate,
    possession: body.signature,
    rootSignature: body.root_signature,
  })
  return done(ceremonies, visitor)
}

function requireFresh({ signedInAtMs }: Visitor, message: string): void {
  if (signedInAtMs + FRESH_SIGN_IN_SECONDS * 1_000 >= Date.now()) return
  throw new RequestRefusedError(401, 'SIGN_IN_REQUIRED', message)
}

async function remove(
  { ceremonies }: AuthorizerRouteDeps,
  request: IncomingMessage,
  visitor: Visitor,
) {
  const { authorizer_id } = await readJson(request, removeBody)
  const open = ceremonies.beginRemoval(visitor.userId, authorizer_id)
  return { status: 'approval_required', ...certificateJson(open), ...listed(ceremonies, visitor) }
}

async function confirm(
  { ceremonies }: AuthorizerRouteDeps,
  request: IncomingMessage,
  visitor: Visitor,
) {
  const { grant, proof } = await readJson(request, confirmBody)
  await ceremonies.leaveProof(visitor.userId, grant, proof)
  return { status: 'confirmed' }
}

function certificateJson({ ceremonyId, certificate, challenge }: BegunCertificate) {
  return {
    ceremony_id: ceremonyId,
    certificate: base64Url(certificate),
    challenge: base64Url(challenge),
  }
}

function listed(ceremonies: AuthorizerCeremonies, { userId }: Visitor) {
  return { authorizers: ceremonies.list(userId).map(authorizerJson) }
}

function done(ceremonies: AuthorizerCeremonies, visitor: Visitor) {
  return { status: 'done', ...listed(ceremonies, visitor) }
}

function sendFailure(log: Logger, response: ServerResponse, error: unknown): void {
  if (error instanceof RequestRefusedError) {
    const { retryAfterSeconds } = error
    if (retryAfterSeconds !== null) response.setHeader('Retry-After', retryAfterSeconds)
    send(response, error.status, errorJson(error.code, error.message))
  } else if (error instanceof Refusal) {
    // The message contains no key material, and tells a person what to change.
    send(response, STATUS[error.code] ?? 400, errorJson(error.code, error.message))
  } else {
    log.error({ err: error }, 'authorizer request failed')
    send(response, 500, errorJson('INTERNAL', 'The request failed. Try again in a moment.'))
  }
}

const STATUS: Partial<Record<RefusalCode, number>> = {
  CONFLICT: 409,
  NOT_CONFIRMED: 403,
  APPROVAL_UNKNOWN: 404,
  APPROVAL_DECLINED: 409,
  APPROVAL_EXPIRED: 409,
  APPROVAL_MISMATCH: 409,
  NO_SPACE: 503,
}

function errorJson(code: string, message: string): object {
  return { error: { code, message } }
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...lastAnswer(status),
  })
  response.end(text)
}
