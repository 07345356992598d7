import { signal } from '@preact/signals'
import { BASE_PATH } from '../env.js'
import { chooseAccount } from './account.js'
import { NoPlaceError, type Place, UnreachableError } from './ask-provider.js'
import { heldTokens } from './held-tokens.js'
import { comeBackFromSignIn, leaveForSignIn, leaveForSignOut, refreshTokens } from './oidc.js'

/**
 * The person who is signed in. Tokens are only in this tab's memory: a reloaded page asks the
 * identity provider, whose session answers without a password. Tabs share the sign-out.
 */
export type Session =
  | { readonly status: 'starting' }
  | { readonly status: 'signed-in' }
  | {
      readonly status: 'signed-out'
      readonly problem: string | null
      /**
       * Accounts to offer instead of one that the person is not a member of; empty if there are
       * none.
       */
      readonly accounts?: readonly Place[]
    }

export const session = signal<Session>({ status: 'starting' })

/**
 * Set while the person wants to stay signed out, so that a new page does not sign them in again.
 */
const SIGNED_OUT_KEY = 'countersign:signed-out'

const tokens = heldTokens({
  refresh: refreshTokens,
  isAway: (error) => error instanceof UnreachableError,
  onEnded: () => endSession('Your sign-in has ended. Sign in again.'),
  nowMs: Date.now,
})
/** @throws Error if nobody is signed in */
export const accessToken = tokens.access
const tabs = new BroadcastChannel('countersign:session')
tabs.onmessage = ({ data }) => {
  if (data === 'signed-out') endSession('You signed out in another tab.')
}

export async function startSession(): Promise<void> {
  try {
    if (location.pathname === `${BASE_PATH}/callback`) {
      const query = new URLSearchParams(location.search)
      history.replaceState(null, '', `${BASE_PATH}/`)
      const back = await comeBackFromSignIn(query)
      tokens.hold(back.tokens)
      history.replaceState(null, '', `${BASE_PATH}${back.returnTo}`)
      session.value = { status: 'signed-in' }
    } else if (sessionStorage.getItem(SIGNED_OUT_KEY) !== null) {
      session.value = { status: 'signed-out', problem: null }
    } else {
      await leaveForSignIn(currentPath())
    }
  } catch (error) {
    if (!(error instanceof UnreachableError)) chooseAccount(null)
    const problem = wordsOf(error)
    session.value =
      error instanceof NoPlaceError
        ? { status: 'signed-out', problem, accounts: error.accounts }
        : { status: 'signed-out', problem }
  }
}

export async function signIn(): Promise<void> {
  sessionStorage.removeItem(SIGNED_OUT_KEY)
  session.value = { status: 'starting' }
  try {
    await leaveForSignIn(currentPath())
  } catch (error) {
    session.value = { status: 'signed-out', problem: wordsOf(error) }
  }
}

/** Leaves for a token of another account; nothing that is shown now is kept. */
export async function switchAccount(accountId: string | null): Promise<void> {
  chooseAccount(accountId)
  tokens.drop()
  session.value = { status: 'starting' }
  try {
    await leaveForSignIn('/')
  } catch (error) {
    session.value = { status: 'signed-out', problem: wordsOf(error) }
  }
}

export async function signOut(): Promise<void> {
  chooseAccount(null)
  tabs.postMessage('signed-out')
  endSession(null)
  await leaveForSignOut().catch(() => undefined)
}

function endSession(problem: string | null): void {
  tokens.drop()
  // A person who was removed from another's account signs in to their own.
  chooseAccount(null)
  sessionStorage.setItem(SIGNED_OUT_KEY, '1')
  session.value = { status: 'signed-out', problem }
}

/** Path below the base, with its query. */
function currentPath(): string {
  return `${location.pathname.slice(BASE_PATH.length) || '/'}${location.search}`
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
