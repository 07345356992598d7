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
  readonly texts: readonly { readonly text: string }[]
  resolve(views: readonly View[]): void
}

export interface ViewRunner {
  run(items: PendingViews[]): Promise<void>
}

export function createViewRunner(set: EndpointSet): ViewRunner {
  async function viewOf(endpoint: Endpoint, body: string, count: number): Promise<View | null> {
    const answers = await endpoint.post(body, count).catch(() => [])
    const values = answers.flatMap((answer) => (answer.ok ? [answer.value] : []))
    return values.length === count ? values : null
  }

  return {
    async run(items) {
      for (const { texts, resolve } of items) {
        const body = requestBody(texts)
        const usable = await set.usable()
        const views = await Promise.all(usable.map((it) => viewOf(it, body, texts.length)))
        resolve(views.filter((view) => view !== null))
      }
    },
  }
}
