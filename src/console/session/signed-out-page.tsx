import { Wordmark } from '../parts/wordmark.js'
import type { Place } from './ask-provider.js'
import { signIn, signOut, switchAccount } from './session.js'

export function SignedOutPage(shown: {
  readonly problem: string | null
  /** Empty: nothing is known of any. */
  readonly accounts: readonly Place[]
}) {
  const { problem, accounts } = shown
  return (
    <main class="signed-out">
      <Wordmark />
      <h1>{problem === null ? 'Signed out' : 'Not signed in'}</h1>
      {problem === null ? (
        <p class="mute">Your agents go on within their caps.</p>
      ) : (
        <p role="alert">{problem}</p>
      )}
      {accounts.length === 0 ? (
        <button type="button" class="primary" onClick={() => void signIn()}>
          Sign in
        </button>
      ) : (
        <OtherAccounts accounts={accounts} />
      )}
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
