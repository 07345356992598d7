import { isPruned } from './classify.js'
import type { Endpoint } from './endpoint.js'
import type { EndpointSet } from './endpoint-set.js'
import type { View } from './types.js'

/**
 * Calls whose answers are useful only together: one endpoint answers all of them, in one request
 * when it accepts that many and otherwise in order, or its answer does not count. Single calls are
 * never repeated at another node, because two nodes that are each right may together give a state
 * that neither has.
 */
export interface PendingViews {
  /** `serialiseCall` of each call. */
  readonly texts: readonly ViewText[]
  /** Null to use every endpoint, all at once. */
  readonly isEnough: ((view: View) => boolean) | null
  resolve(views: readonly View[]): void
}

interface ViewText {
  readonly text: string
  readonly mayBePruned: boolean
}

interface ViewRunner {
  run(items: PendingViews[]): Promise<void>
}

async function inTurn(
  endpoints: readonly Endpoint[],
  ask: (endpoint: Endpoint) => Promise<View | null>,
  isEnough: (view: View) => boolean,
): Promise<(View | null)[]> {
  const views: (View | null)[] = []
  for (const endpoint of endpoints) {
    const view = await ask(endpoint)
    views.push(view)
    if (view !== null && isEnough(view)) break
  }
  return views
}

export function createViewRunner(set: EndpointSet): ViewRunner {
  async function viewOf(endpoint: Endpoint, texts: readonly ViewText[]): Promise<View | null> {
    const { answers } = await endpoint.askInOrder(texts)
    const values = answers.flatMap((answer, i) => {
      if (answer.ok) return [answer.value]
      return texts[i]?.mayBePruned === true && isPruned(answer.error) ? [null] : []
    })
    return values.length === texts.length ? values : null
  }

  return {
    async run(items) {
      for (const { texts, isEnough, resolve } of items) {
        const usable = await set.usable()
        const ask = (endpoint: Endpoint) => viewOf(endpoint, texts)
        const views =
          isEnough === null
            ? await Promise.all(usable.map(ask))
            : await inTurn(usable, ask, isEnough)
        resolve(views.filter((view) => view !== null))
      }
    },
  }
}
