import { Wordmark } from '../parts/wordmark.js'
import { signIn } from './session.js'

export function SignedOutPage({ problem }: { readonly problem: string | null }) {
  return (
    <main class="signed-out">
      <Wordmark />
      <h1>{problem === null ? 'Signed out' : 'Not signed in'}</h1>
      {problem === null ? (
        <p class="mute">Your agents go on within their caps.</p>
      ) : (
        <p role="alert">{problem}</p>
      )}
      <button type="button" class="primary" onClick={() => void signIn()}>
        Sign in
      </button>
    </main>
  )
}
