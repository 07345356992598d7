import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readApprovalTerm } from '../../custody/approvals/approval-term.js'
import { type Confirmable, readConfirmable } from '../../custody/authorizers/confirmable.js'
import { changeOf } from '../../custody/authorizers/describe-grant-change.js'
import { readGrantStatement } from '../../custody/authorizers/grant-statement.js'
import { readMemberStatement } from '../../custody/members/member-statement.js'
import type { GrantTerms } from '../../domain/grant-terms.js'
import { ID_PREFIX, isId, ulidBytes, ulidOfBytes, ulidTimeMs } from '../../domain/ids.js'
import { canonicalText } from '../../policy/canonical-policy.js'
import type { Policy } from '../../policy/policy.js'
import { approvalPage } from '../approvals/approval-page.js'
import type { Accounts } from '../login/accounts.js'
import { AUTHORIZERS_CLIENT_ID, AUTHORIZERS_SIGNED_IN_PATH } from '../login/clients.js'
import { contentSecurityPolicy, messagePage, scriptedPagePolicy } from '../login/pages.js'
import { sendPage } from '../login/send-page.js'
import type { UserSideApprovals } from '../vault/approvals.js'
import type { Members } from '../vault/members.js'
import type { AuthorizerCeremonies } from './ceremonies.js'
import { type ConfirmPage, confirmPage, type ShownNames } from './confirm-page.js'
import { PAGE_SCRIPT } from './page-script.js'
import { managePage, SCRIPT_PATH } from './pages.js'
import { sessionVisitor, type VisitorDeps } from './visitor.js'
import { STATEMENT_CHARS_MAX } from './wire.js'

export interface PageDeps extends VisitorDeps {
  readonly ceremonies: AuthorizerCeremonies
  readonly approvals: UserSideApprovals
  readonly members: Pick<Members, 'roleOf'>
  readonly accounts: Pick<Accounts, 'findById'>
  /** Returns what a user's key may do now; null for an unknown key or another user's. */
  readonly termsOf: (keyId: Uint8Array, userId: string) => GrantTerms | null
}

/** Longer than any name that the service lets users give. */
const NAME_CHARS_MAX = 128

/** A statement in base64url. */
const GRANT = /^[A-Za-z0-9_-]+$/

const MANAGE_PATH = '/authorizers'
const APPROVE_PATH = '/approve/'
/**
 * The agent has its answer, and a person the link, slightly before this domain learns of the call.
 */
const TOLD_WITHIN_MS = 60_000
const REFRESH_SECONDS = 1

/**
 * The paths to which a sign-in may return; a browser reads none of them as another origin.
 * Strangers can begin sign-ins, and each is stored, so the path cannot carry a grant with a large
 * policy.
 */
const OWN_PATH = /^\/(?:authorizers(?:\/confirm\?[\w%+.*=&-]{1,4096})?|approve\/\w{1,64})$/

/** @returns false when the path belongs to no page */
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
    // This page only needs the session; the code is left to expire.
    const wanted = Buffer.from(query.get('state') ?? '', 'base64url').toString()
    redirect(response, OWN_PATH.test(wanted) ? wanted : MANAGE_PATH)
    return true
  }
  if (path === MANAGE_PATH) await manage(deps, request, response, query)
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
    redirect(response, signInUrl(origin, MANAGE_PATH, query.has('sign-in') ? 'login' : null))
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
    message(response, 400, 'Not a grant', 'The address is incomplete. Copy all of it.')
    return
  }
  if (asked.kind === 'approval') {
    // The term holds only the hash of the calldata: people read the call on its own page.
    const { approvalId } = readApprovalTerm(asked.encoded).statement
    redirect(response, `${APPROVE_PATH}${ID_PREFIX.approval}${ulidOfBytes(approvalId)}`)
    return
  }
  const names = { key: nameIn(query, 'key'), wallet: nameIn(query, 'wallet') }
  const here = confirmPath(text, names)
  const visitor = await sessionVisitor(deps, request, response)
  if (visitor === null) {
    if (OWN_PATH.test(here)) redirect(response, signInUrl(origin, here, null))
    else signInFirst(response)
    return
  }
  if (!deps.ceremonies.mayConfirm(visitor.userId, asked)) {
    message(response, 403, 'Not yours', 'This request is for another user. Sign out first.')
    return
  }
  const page = confirmPage({
    ...{ asked, names, change: changeIn(deps, asked, visitor.userId), nowMs: Date.now() },
    policies: policiesIn(deps, asked, visitor.userId),
    email: deps.accounts.findById(visitor.userId)?.email ?? visitor.userId,
    rpId: deps.webauthn()?.rpId ?? '',
    signInPath: here,
  })
  sendPage(response, 200, 'text/html', page, scriptedPagePolicy())
}

/** Null when no existing key or member changes. */
function changeIn(
  { termsOf, members }: PageDeps,
  { kind, encoded, lines }: Confirmable,
  userId: string,
) {
  if (kind === 'member') {
    const { statement } = readMemberStatement(encoded)
    const { action, accountId, personId } = statement
    const before = action === 'change' ? members.roleOf(accountId, personId) : null
    return lines.map(([name, value]) => ({ name, value, before: name === 'To' ? before : null }))
  }
  if (kind !== 'grant') return null
  return changeOf(readGrantStatement(encoded).statement, (keyId) => termsOf(keyId, userId))
}

/** Null for a new key, and when the calls that a key may make do not change. */
function policiesIn(
  { termsOf }: PageDeps,
  { kind, encoded }: Confirmable,
  userId: string,
): ConfirmPage['policies'] {
  if (kind !== 'grant') return null
  const { keyId, policy: next } = readGrantStatement(encoded).statement
  const before = termsOf(keyId, userId)?.policy
  if (before === undefined || textOf(before) === textOf(next)) return null
  return { before, next }
}

function textOf(policy: Policy | null): string | null {
  return policy === null ? null : canonicalText(policy)
}

/** Reads a name from the address; anyone may have written it. */
function nameIn(query: URLSearchParams, of: keyof ShownNames): string | null {
  const name = (query.get(of) ?? '').replace(/\p{C}/gu, '').trim()
  return name === '' ? null : name.slice(0, NAME_CHARS_MAX)
}

/** Shows one waiting call to its owner. For everyone else it does not exist. */
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
    message(response, 404, 'Not an approval', 'The address is incomplete. Copy all of it.')
    return
  }
  const visitor = await sessionVisitor(deps, request, response)
  if (visitor === null) {
    redirect(response, signInUrl(origin, path, null))
    return
  }
  const { userId } = visitor
  const approvalId = ulidBytes(id)
  const waiting = deps.approvals.waiting(approvalId, userId)
  if (waiting === null && Math.abs(Date.now() - ulidTimeMs(approvalId)) < TOLD_WITHIN_MS) {
    response.setHeader('Refresh', String(REFRESH_SECONDS))
    message(
      response,
      200,
      'Not here yet',
      'This call was requested just now. It will appear in a moment.',
    )
    return
  }
  if (waiting === null) {
    message(response, 404, 'Nothing waits here', 'None of your calls waits at this address.')
    return
  }
  const page = approvalPage({
    waiting,
    email: deps.accounts.findById(userId)?.email ?? userId,
    rpId: deps.webauthn()?.rpId ?? '',
    signInPath: path,
    nowMs: Date.now(),
  })
  sendPage(response, 200, 'text/html', page, scriptedPagePolicy())
}

function readAsked(text: string): Confirmable | null {
  if (text.length > STATEMENT_CHARS_MAX || !GRANT.test(text)) return null
  try {
    return readConfirmable(Buffer.from(text, 'base64url'))
  } catch {
    return null
  }
}

/** Null after it has answered the request: passkeys work only on their own origin. */
function originOf(
  { webauthn }: PageDeps,
  request: IncomingMessage,
  response: ServerResponse,
): string | null {
  const origins = webauthn()?.origins ?? []
  const first = origins[0]
  if (first === undefined) {
    message(response, 404, 'No passkeys here', 'The registry pins no origin for passkeys.')
    return null
  }
  const here = origins.find((origin) => new URL(origin).host === request.headers.host)
  if (here !== undefined) return here
  redirect(response, `${first}${request.url ?? '/authorizers'}`)
  return null
}

/**
 * Builds the address of a sign-in.
 * @param path where the sign-in returns to
 * @param prompt `login` asks for the password even when the person is signed in
 */
function signInUrl(origin: string, path: string, prompt: 'login' | null): string {
  const query = new URLSearchParams({
    client_id: AUTHORIZERS_CLIENT_ID,
    response_type: 'code',
    scope: 'openid',
    redirect_uri: `${origin}${AUTHORIZERS_SIGNED_IN_PATH}`,
    // Nobody exchanges the code, so nobody has to know its verifier.
    code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
    code_challenge_method: 'S256',
    state: Buffer.from(path).toString('base64url'),
    ...(prompt === null ? {} : { prompt }),
  })
  return `${origin}/auth?${query.toString()}`
}

function confirmPath(grant: string, { key, wallet }: ShownNames): string {
  const query = new URLSearchParams({ grant })
  if (key !== null) query.set('key', key)
  if (wallet !== null) query.set('wallet', wallet)
  return `/authorizers/confirm?${query.toString()}`
}

function message(response: ServerResponse, status: number, title: string, text: string): void {
  sendPage(response, status, 'text/html', messagePage(title, text), contentSecurityPolicy(null))
}

/** Serves an address that is too long for the sign-in to return to. */
function signInFirst(response: ServerResponse): void {
  const way = 'Sign in, then open the address of the grant again.'
  const page = messagePage('Sign in first', way, { text: 'Sign in', path: MANAGE_PATH })
  sendPage(response, 401, 'text/html', page, contentSecurityPolicy(null))
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { Location: location, 'Cache-Control': 'no-store' })
  response.end()
}
