import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Loading } from './states.js'

type PageComponent = () => JSX.Element

/** Pages that are not loaded yet, in the order of the navigation. */
const toLoad: (() => Promise<unknown>)[] = []

/** @param load loads the page, which the build puts in a separate file because of this import */
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

/**
 * A browser may remember permanently that a file failed to load, and a newer service has other
 * files.
 */
function NotLoaded() {
  return (
    <div class="problem" role="alert">
      <p>This page did not load. The service was unavailable, or has a newer console.</p>
      <button type="button" onClick={() => location.reload()}>
        Reload the console
      </button>
    </div>
  )
}

const IDLE_MS = 1_500

/**
 * Loads the other pages, one after another, once the first page is shown. A visit to another page
 * then waits for nothing, and works while the service is unavailable.
 */
export function loadPagesWhenIdle(): void {
  setTimeout(() => void loadAll(), IDLE_MS)
}

async function loadAll(): Promise<void> {
  for (const load of toLoad) await load().catch(() => undefined)
}
