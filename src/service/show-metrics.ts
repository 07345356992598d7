import type { Logger } from 'pino'
import { collectDefaultMetrics, type Registry } from 'prom-client'
import type { Config } from '../config/env.js'
import { type DependencySources, registerDependencyGauges } from '../http/dependency-gauges.js'
import type { Readiness } from '../http/health-routes.js'
import type { HttpMetrics } from '../http/metrics.js'
import { listenForMetrics } from '../http/metrics-listener.js'
import { descriptorsMax, unreservedDescriptors } from '../http/open-files.js'
import { type GaugeSources, registerServiceGauges } from '../http/service-gauges.js'
import { registerMeters, showLatencies, type ThreadMeter, threadNames } from '../wiring/meters.js'
import { showPath } from '../wiring/path-meter.js'

interface ShownMetrics {
  readonly registry: Registry
  readonly requests: Pick<HttpMetrics, 'render'>
  readonly readiness: () => Readiness
  readonly gauges: GaugeSources & DependencySources
  /** The meter of the main thread. */
  readonly meter: ThreadMeter
  /** The meters of all threads. */
  readonly meters: SharedArrayBuffer
  readonly path: SharedArrayBuffer
  readonly chainIds: readonly number[]
  readonly nowMs: () => number
  readonly logger: Logger
}

/**
 * Registers the metrics of all threads and listens for Prometheus.
 * @returns null if METRICS_PORT is not set
 */
export async function showMetrics(config: Config, shown: ShownMetrics) {
  const { registry, gauges, meters, logger } = shown
  collectDefaultMetrics({ register: registry })
  registerMeters(registry, meters, threadNames(config.workers), shown.meter.post)
  registerServiceGauges(registry, gauges)
  registerDependencyGauges(registry, gauges)
  if (config.metricsPort === null) return null
  return listenForMetrics({
    host: config.host,
    port: config.metricsPort,
    ...{ registry, readiness: shown.readiness },
    expositions: [
      shown.requests.render,
      showLatencies(meters),
      showPath(shown.path, shown.chainIds, shown.nowMs),
    ],
    logger,
    descriptorsMax: unreservedDescriptors(descriptorsMax()),
  })
}
