import { Wordmark } from '../parts/wordmark.js'
import type { Place } from './ask-provider.js'
import { signIn, signOut, switchAccount } from './session.js'

export function SignedOutPage(shown: {
  readonly problem: string | null
  /** Null if unknown; empty if the person is a member of none. */
  readonly accounts: readonly Place[] | null
}) {
  const { problem, accounts } = shown
  if (accounts?.length === 0) return <NoAccountPage />
  return (
    <main class="signed-out">
      <Wordmark />
      <h1>{problem === null ? 'Signed out' : 'Not signed in'}</h1>
      {problem === null ? (
        <p class="mute">Your agents continue within their caps.</p>
      ) : (
        <p role="alert">{problem}</p>
      )}
      {accounts === null ? (
        <button type="button" class="primary" onClick={() => void signIn()}>
          Sign in
        </button>
      ) : (
        <OtherAccounts accounts={accounts} />
      )}
    </main>
  )
}

/** Signing in again would end here again, because only the operator creates accounts. */
function NoAccountPage() {
  return (
    <main class="signed-out">
      <Wordmark />
      <h1>You are not a member of any account</h1>
      <p role="alert">
        Your address and password are correct, but you left your own account or were removed from
        it, and you are not a member of another.
      </p>
      <p>
        There is nothing to show, and you cannot accept an invitation. Ask the operator of this
        service to create a sign-in for another address of yours; it has its own account and can be
        invited.
      </p>
      <button type="button" class="primary" onClick={() => void signOut()}>
        Sign in as another person
      </button>
    </main>
  )
}

/** The same sign-in would end here again. */
function OtherAccounts({ accounts }: { readonly accounts: readonly Place[] }) {
  return (
    <>
      <p>You are a member of:</p>
      <ul class="rows">
        {accounts.map(({ account_id, role }) => (
          <li key={account_id}>
            <span>
              {account_id} <span class="mute">as {role}</span>
            </span>
            <button
              type="button"
              class="primary"
              aria-label={`Go there: ${account_id}`}
              onClick={() => void switchAccount(account_id)}
            >
              Go there
            </button>
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => void signOut()}>
        Sign in as another person
      </button>
    </>
  )
}
