import type { ComponentChildren } from 'preact'
import { useErrorBoundary } from 'preact/hooks'
import { Page } from './page.js'
import { Problem } from './states.js'

/** Shows the error of a page that fails; the other pages and the red button continue to work. */
export function PageGuard({ children }: { readonly children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary()
  if (error === undefined) return <>{children}</>
  return (
    <Page title="This page failed">
      <Problem error={error} retry={reset} />
    </Page>
  )
}
