import { QueryClientProvider } from '@tanstack/preact-query'
import { render } from 'preact'
import { Router } from 'wouter-preact'
import './console.css'
import { BASE_PATH } from './env.js'
import { followWhileSignedIn } from './live/live.js'
import { queryClient } from './queries.js'
import { session, startSession } from './session/session.js'
import { SignedOutPage } from './session/signed-out-page.js'
import { Shell } from './shell.js'

function Console() {
  const now = session.value
  if (now.status === 'starting') return <p class="splash">Signing in…</p>
  if (now.status === 'signed-out')
    return <SignedOutPage problem={now.problem} accounts={now.accounts ?? null} />
  return (
    <QueryClientProvider client={queryClient}>
      <Router base={BASE_PATH}>
        <Shell />
      </Router>
    </QueryClientProvider>
  )
}

const root = document.getElementById('console')
if (root !== null) render(<Console />, root)
// Data that one person read must not be shown to the next.
session.subscribe(({ status }) => {
  if (status === 'signed-out') queryClient.clear()
})
followWhileSignedIn(queryClient)
await startSession()
