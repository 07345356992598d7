import { isPruned } from './classify.js'
import type { Endpoint } from './endpoint.js'
import type { EndpointSet } from './endpoint-set.js'
import type { View } from './types.js'
import { requestBody } from './wire.js'

/**
 * Questions whose answers are only worth something together: one endpoint answers all of them in
 * one request, or has no say. Nothing is asked again elsewhere item by item, since two nodes that
 * are each right may together say what neither does.
 */
export interface PendingViews {
  /** `serialiseCall` of each call. */
  readonly texts: readonly ViewText[]
  /** Null: every endpoint is asked, all at once. */
  readonly isEnough: ((view: View) => boolean) | null
  resolve(views: readonly View[]): void
}

interface ViewText {
  readonly text: string
  readonly mayBePruned: boolean
}

export interface ViewRunner {
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
  async function viewOf(
    endpoint: Endpoint,
    body: string,
    texts: readonly ViewText[],
  ): Promise<View | null> {
    const answers = await endpoint.post(body, texts.length).catch(() => [])
    const values = answers.flatMap((answer, i) => {
      if (answer.ok) return [answer.value]
      return texts[i]?.mayBePruned === true && isPruned(answer.error) ? [null] : []
    })
    return values.length === texts.length ? values : null
  }

  return {
    async run(items) {
      for (const { texts, isEnough, resolve } of items) {
        const body = requestBody(texts)
        const usable = await set.usable()
        const ask = (endpoint: Endpoint) => viewOf(endpoint, body, texts)
        const views =
          isEnough === null
            ? await Promise.all(usable.map(ask))
            : await inTurn(usable, ask, isEnough)
        resolve(views.filter((view) => view !== null))
      }
    },
  }
}
