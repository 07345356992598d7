import type { ComponentChildren } from 'preact'
import { useErrorBoundary } from 'preact/hooks'
import { Page } from './page.js'
import { Problem } from './states.js'

/** What a page cannot show it says: the others, and the red button, go on. */
export function PageGuard({ children }: { readonly children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary()
  if (error === undefined) return <>{children}</>
  return (
    <Page title="This page failed">
      <Problem error={error} retry={reset} />
    </Page>
  )
}
