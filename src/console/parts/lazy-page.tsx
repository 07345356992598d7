import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Loading } from './states.js'

type PageComponent = () => JSX.Element

/** Pages that are not loaded yet, in the order of the navigation. */
const toLoad: (() => Promise<unknown>)[] = []

/** @param load the page, in a file of its own that the build makes of this import */
export function lazyPage(load: () => Promise<PageComponent>): PageComponent {
  let loaded: PageComponent | null = null
  const once = async () => {
    loaded ??= await load()
  }
  toLoad.push(once)
  return function LazyPage() {
    const [, show] = useState(false)
    const [failed, fail] = useState(false)
    useEffect(() => {
      if (loaded === null)
        once().then(
          () => show(true),
          () => fail(true),
        )
    }, [])
    if (loaded !== null) {
      const Shown = loaded
      return <Shown />
    }
    return failed ? <NotLoaded /> : <Loading what="the page" />
  }
}

/** A browser may keep for good that a file did not come, and a newer service has other files. */
function NotLoaded() {
  return (
    <div class="problem" role="alert">
      <p>This page did not load: the service was away, or has a newer console.</p>
      <button type="button" onClick={() => location.reload()}>
        Load the console anew
      </button>
    </div>
  )
}

const IDLE_MS = 1_500

/**
 * Loads what is left, one after the other, once the first page is there: a visit to another then waits
 * for nothing, and goes on while the service is away.
 */
export function loadPagesWhenIdle(): void {
  setTimeout(() => void loadAll(), IDLE_MS)
}

async function loadAll(): Promise<void> {
  for (const load of toLoad) await load().catch(() => undefined)
}
