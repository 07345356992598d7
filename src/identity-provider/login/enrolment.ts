import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { AccountRefusedError, type Accounts } from './accounts.js'
import { FormRefusedError, readForm } from './form-body.js'
import { contentSecurityPolicy, enrolmentPage, messagePage, scriptedPagePolicy } from './pages.js'
import { PasswordQueueFullError } from './password-hash.js'
import { sendPage } from './send-page.js'

/**
 * The page on which an invited person chooses a password. The code is in the link's fragment, which
 * browsers do not send and servers do not log; the page's script puts it into the form.
 */
export const ENROLMENT_PATH = '/enrol'
const SCRIPT_PATH = `${ENROLMENT_PATH}/page.js`

const SCRIPT = `document.getElementById('code').value = location.hash.slice(1)
history.replaceState(null, '', location.pathname)
`

interface EnrolmentDeps {
  readonly accounts: Pick<Accounts, 'redeem'>
  readonly log: Logger
}

/** @returns false when the path is not one of its own */
export function createEnrolmentHandler(deps: EnrolmentDeps) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    if (path === SCRIPT_PATH && request.method === 'GET') {
      sendPage(response, 200, 'text/javascript', SCRIPT, contentSecurityPolicy(null))
    } else if (path === ENROLMENT_PATH && request.method === 'GET') {
      show(response, 200, '', null)
    } else if (path === ENROLMENT_PATH && request.method === 'POST') {
      await redeem(deps, request, response)
    } else {
      return false
    }
    return true
  }
}

/** Wrong codes are not counted: each costs one lookup, and nobody guesses 192 bits. */
async function redeem(
  { accounts, log }: EnrolmentDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let code = ''
  try {
    const form = await readForm(request)
    code = form.get('code') ?? ''
    const user = await accounts.redeem(code, form.get('password') ?? '')
    log.info({ userId: user.userId }, 'an invited user has chosen a password')
    const done = messagePage(
      'You are in',
      'Your password is set. Sign in with it once more to add a passkey, with which you sign in and confirm from then on; or run "countersign login" and "countersign authorizer create".',
      { text: 'Add a passkey', path: '/authorizers' },
    )
    sendPage(response, 200, 'text/html', done, contentSecurityPolicy(null))
  } catch (error) {
    if (error instanceof AccountRefusedError) {
      show(response, 400, code, `Not possible: ${error.message}.`)
    } else if (error instanceof FormRefusedError) {
      show(response, error.status, '', error.message)
    } else if (error instanceof PasswordQueueFullError) {
      response.setHeader('Retry-After', 5)
      show(response, 503, '', 'Too many people are signing in. Try again in a moment.')
    } else {
      throw error
    }
  }
}

function show(
  response: ServerResponse,
  status: number,
  code: string,
  problem: string | null,
): void {
  const page = enrolmentPage({ action: ENROLMENT_PATH, script: SCRIPT_PATH, code, problem })
  sendPage(response, status, 'text/html', page, scriptedPagePolicy("'self'"))
}
