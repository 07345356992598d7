import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Listener } from './app.js'
import { type AdapterChoice, createApp } from './uws.js'

/**
 * `/metrics` on a port of its own, so that who may scrape is a matter of the network and the
 * public port never shows how the service is doing.
 */
export function listenForMetrics(options: {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  readonly registry: Registry
  /** What is counted outside the registry, each in the text format. */
  readonly expositions: readonly (() => string)[]
  readonly logger: Logger
  /** Default `auto`. */
  readonly adapter?: AdapterChoice
  /** As `AppOptions` has it. */
  readonly descriptorsMax?: number
}): Promise<Listener> {
  const { registry, expositions, logger, adapter = 'auto' } = options
  const { descriptorsMax = Number.POSITIVE_INFINITY } = options
  const app = createApp({ adapter, descriptorsMax })
  app.get('/metrics', (response) => {
    let aborted = false
    response.onAborted(() => {
      aborted = true
    })
    void registry.metrics().then(
      (own) => {
        if (aborted) return
        const text = [own, '\n', ...expositions.map((render) => render())].join('')
        response.cork(() => {
          response.writeHeader('Content-Type', registry.contentType).end(text)
        })
      },
      (error: unknown) => {
        logger.error({ err: error }, 'metrics could not be collected')
        if (aborted) return
        response.cork(() => response.writeStatus('500 Internal Server Error').endWithoutBody())
      },
    )
  })
  app.any('/*', (response) => {
    response.writeStatus('404 Not Found').end()
  })
  return app.listen(options.host, options.port)
}
