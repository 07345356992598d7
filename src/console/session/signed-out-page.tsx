import { Wordmark } from '../parts/wordmark.js'
import type { Place } from './ask-provider.js'
import { signIn, signOut, switchAccount } from './session.js'

export function SignedOutPage(shown: {
  readonly problem: string | null
  /** Null: nothing is known of any. Empty: the person is in none. */
  readonly accounts: readonly Place[] | null
}) {
  const { problem, accounts } = shown
  if (accounts?.length === 0) return <NoAccountPage />
  return (
    <main class="signed-out">
      <Wordmark />
      <h1>{problem === null ? 'Signed out' : 'Not signed in'}</h1>
      {problem === null ? (
        <p class="mute">Your agents go on within their caps.</p>
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

/** To sign in again would end here again: accounts of their own are made by the operator alone. */
function NoAccountPage() {
  return (
    <main class="signed-out">
      <Wordmark />
      <h1>You are in no account</h1>
      <p role="alert">
        Your address and password are right. But you have left the account that was your own, or
        were removed from it, and you are a member of no other.
      </p>
      <p>
        So there is nothing to show, and no invitation that you could accept. Whoever runs this
        service can make you a sign-in by another address: it has an account of its own, and can be
        invited.
      </p>
      <button type="button" class="primary" onClick={() => void signOut()}>
        Sign in as another person
      </button>
    </main>
  )
}

/** The same sign-in as before would end where it did. */
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
