import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Confirmable, readConfirmable } from '../../custody/authorizers/confirmable.js'
import { ID_PREFIX, isId, ulidBytes } from '../../domain/ids.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { approvalPage } from '../approvals/approval-page.js'
import type { Accounts } from '../login/accounts.js'
import { AUTHORIZERS_CLIENT_ID, AUTHORIZERS_SIGNED_IN_PATH } from '../login/clients.js'
import { contentSecurityPolicy, messagePage, scriptedPagePolicy } from '../login/pages.js'
import { sendPage } from '../login/send-page.js'
import type { UserSideApprovals } from '../vault/approvals.js'
import type { AuthorizerCeremonies } from './ceremonies.js'
import { PAGE_SCRIPT } from './page-script.js'
import { confirmPage, managePage, SCRIPT_PATH } from './pages.js'
import { sessionVisitor, type VisitorDeps } from './visitor.js'

export interface PageDeps extends VisitorDeps {
  readonly ceremonies: AuthorizerCeremonies
  readonly approvals: UserSideApprovals
  readonly accounts: Pick<Accounts, 'findById'>
}

/** Of a statement in base64url; longer ones are not ours. */
const GRANT = /^[A-Za-z0-9_-]{1,1024}$/

const APPROVE_PATH = '/approve/'

/** The state of a sign-in that no grant waits for; not base64url. */
const NO_GRANT = '.'

/** @returns false when the path is none of a page */
export async function servePage(
  deps: PageDeps,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  if (request.method !== 'GET') return false
  const query = new URLSearchParams((request.url ?? '').split('?', 2)[1] ?? '')
  if (path === SCRIPT_PATH) {
    sendPage(response, 200, 'text/javascript', PAGE_SCRIPT, contentSecurityPolicy(null))
    return true
  }
  if (path === AUTHORIZERS_SIGNED_IN_PATH) {
    // The session is what was wanted; the code is left to expire.
    const state = query.get('state') ?? NO_GRANT
    redirect(response, state === NO_GRANT ? '/authorizers' : pathOf(state))
    return true
  }
  if (path === '/authorizers') await manage(deps, request, response, query)
  else if (path === '/authorizers/confirm') await confirm(deps, request, response, query)
  else if (path.startsWith(APPROVE_PATH)) await approval(deps, path, request, response)
  else return false
  return true
}

async function manage(
  deps: PageDeps,
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
): Promise<void> {
  const origin = originOf(deps, request, response)
  if (origin === null) return
  const signInPath = '/authorizers?sign-in=again'
  const visitor = await sessionVisitor(deps, request, response)
  if (visitor === null || query.has('sign-in')) {
    redirect(response, signInUrl(origin, NO_GRANT, query.has('sign-in') ? 'login' : null))
    return
  }
  const page = managePage({
    email: deps.accounts.findById(visitor.userId)?.email ?? visitor.userId,
    rpId: deps.webauthn()?.rpId ?? '',
    signInPath,
    authorizers: deps.ceremonies.list(visitor.userId),
  })
  sendPage(response, 200, 'text/html', page, scriptedPagePolicy())
}

async function confirm(
  deps: PageDeps,
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
): Promise<void> {
  const origin = originOf(deps, request, response)
  if (origin === null) return
  const text = query.get('grant') ?? ''
  const asked = readAsked(text)
  if (asked === null) {
    message(response, 400, 'Not a grant', 'The address is not whole. Copy all of it.')
    return
  }
  const visitor = await sessionVisitor(deps, request, response)
  if (visitor === null) {
    redirect(response, signInUrl(origin, text, null))
    return
  }
  if (!sameBytes(asked.ownerHash, sha256(Buffer.from(visitor.userId)))) {
    message(response, 403, 'Not yours', 'This is asked of another user. Sign out first.')
    return
  }
  const page = confirmPage({
    asked,
    email: deps.accounts.findById(visitor.userId)?.email ?? visitor.userId,
    rpId: deps.webauthn()?.rpId ?? '',
    signInPath: confirmPath(text),
  })
  sendPage(response, 200, 'text/html', page, scriptedPagePolicy())
}

/** One call that waits, for its owner alone: to others it is not there. */
async function approval(
  deps: PageDeps,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const origin = originOf(deps, request, response)
  if (origin === null) return
  const id = path.slice(APPROVE_PATH.length)
  if (!isId(ID_PREFIX.approval, id)) {
    message(response, 404, 'Not an approval', 'The address is not whole. Copy all of it.')
    return
  }
  const visitor = await sessionVisitor(deps, request, response)
  if (visitor === null) {
    redirect(response, signInUrl(origin, id, null))
    return
  }
  const { userId } = visitor
  const waiting = deps.approvals.waiting(ulidBytes(id), userId)
  if (waiting === null) {
    message(response, 404, 'Nothing waits here', 'No call of yours waits under this address.')
    return
  }
  const page = approvalPage({
    waiting,
    email: deps.accounts.findById(userId)?.email ?? userId,
    rpId: deps.webauthn()?.rpId ?? '',
    signInPath: pathOf(id),
    authorizers: deps.ceremonies.list(userId),
    nowMs: Date.now(),
  })
  sendPage(response, 200, 'text/html', page, scriptedPagePolicy())
}

function readAsked(text: string): Confirmable | null {
  if (!GRANT.test(text)) return null
  try {
    return readConfirmable(Buffer.from(text, 'base64url'))
  } catch {
    return null
  }
}

/** Null when it has answered: passkeys work on their own origin alone. */
function originOf(
  { webauthn }: PageDeps,
  request: IncomingMessage,
  response: ServerResponse,
): string | null {
  const origins = webauthn()?.origins ?? []
  const first = origins[0]
  if (first === undefined) {
    message(response, 404, 'No passkeys here', 'Their origin is not in the registry.')
    return null
  }
  const here = origins.find((origin) => new URL(origin).host === request.headers.host)
  if (here !== undefined) return here
  redirect(response, `${first}${request.url ?? '/authorizers'}`)
  return null
}

/** @param prompt `login` asks for the password even of who is signed in */
function signInUrl(origin: string, state: string, prompt: 'login' | null): string {
  const query = new URLSearchParams({
    client_id: AUTHORIZERS_CLIENT_ID,
    response_type: 'code',
    scope: 'openid',
    redirect_uri: `${origin}${AUTHORIZERS_SIGNED_IN_PATH}`,
    // Nobody exchanges the code, so nobody needs to know its verifier.
    code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
    code_challenge_method: 'S256',
    state,
    ...(prompt === null ? {} : { prompt }),
  })
  return `${origin}/auth?${query.toString()}`
}

/** Where a sign-in leads to. */
function pathOf(state: string): string {
  return isId(ID_PREFIX.approval, state) ? `${APPROVE_PATH}${state}` : confirmPath(state)
}

function confirmPath(grant: string): string {
  if (!GRANT.test(grant)) return '/authorizers'
  return `/authorizers/confirm?grant=${grant}`
}

function message(response: ServerResponse, status: number, title: string, text: string): void {
  sendPage(response, status, 'text/html', messagePage(title, text), contentSecurityPolicy(null))
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { Location: location, 'Cache-Control': 'no-store' })
  response.end()
}
