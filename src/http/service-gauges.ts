import { Counter, Gauge, type Registry } from 'prom-client'
import type { AdapterName } from './app.js'
import type { PartStatus, ReadinessPart } from './health-routes.js'

/** What operators watch besides requests; read when Prometheus scrapes, never on the hot path. */
export interface GaugeSources {
  readonly lists: () => readonly {
    readonly list: string
    readonly version: string
    readonly source: string
    readonly entries: number
    readonly ageMs: number
    /** Out of date; a live service accepts no writes in that state. */
    readonly stale: boolean
  }[]
  readonly heads: () => Iterable<{ readonly chainId: number; readonly number: number }>
  readonly parts: readonly ReadinessPart[]
  /** Callers that wait for an actor's reply. */
  readonly callersWaiting: () => number
  readonly requestsInFlight: () => number
  readonly adapter: AdapterName
  readonly writes: () => {
    readonly active: number
    readonly waiting: number
    readonly activeMax: number
    readonly refusals: number
  }
}

const WRITES = [
  ['active', 'countersign_writes_active', 'Calls that move value and are at work.'],
  ['waiting', 'countersign_writes_waiting', 'Calls that move value and wait for a place.'],
  [
    'activeMax',
    'countersign_writes_active_max',
    'How many of them may be at work, by their delay.',
  ],
] as const

const STATUS_VALUE: Readonly<Record<PartStatus, number>> = { up: 1, degraded: 0.5, down: 0 }

export function registerServiceGauges(registry: Registry, sources: GaugeSources): void {
  const registers = [registry]
  const listAge = new Gauge({
    name: 'countersign_screening_list_age_seconds',
    help: 'Time since the list was last found current, by list, version and source.',
    labelNames: ['list', 'version', 'source'],
    registers,
    collect() {
      listAge.reset()
      for (const { list, version, source, ageMs } of sources.lists()) {
        listAge.set({ list, version, source }, ageMs / 1_000)
      }
    },
  })
  const listStale = new Gauge({
    name: 'countersign_screening_list_stale',
    help: '1 when the list is out of date.',
    labelNames: ['list'],
    registers,
    collect() {
      listStale.reset()
      for (const { list, stale } of sources.lists()) listStale.set({ list }, stale ? 1 : 0)
    },
  })
  const listEntries = new Gauge({
    name: 'countersign_screening_list_entries',
    help: 'Addresses on the list.',
    labelNames: ['list'],
    registers,
    collect() {
      listEntries.reset()
      for (const { list, entries } of sources.lists()) listEntries.set({ list }, entries)
    },
  })
  const head = new Gauge({
    name: 'countersign_chain_head',
    help: 'Newest block seen, by chain.',
    labelNames: ['chain_id'],
    registers,
    collect() {
      for (const { chainId, number } of sources.heads()) head.set({ chain_id: chainId }, number)
    },
  })
  const part = new Gauge({
    name: 'countersign_part_status',
    help: 'Status of each part of /readyz: 1 up, 0.5 degraded, 0 down.',
    labelNames: ['part'],
    registers,
    collect() {
      for (const { name, report } of sources.parts) {
        part.set({ part: name }, STATUS_VALUE[report().status])
      }
    },
  })
  const waiting = new Gauge({
    name: 'countersign_actor_callers_waiting',
    help: "Callers that wait for an actor's reply.",
    registers,
    collect() {
      waiting.set(sources.callersWaiting())
    },
  })
  const inFlight = new Gauge({
    name: 'countersign_http_requests_in_flight',
    help: 'Requests that have no answer yet.',
    registers,
    collect() {
      inFlight.set(sources.requestsInFlight())
    },
  })
  new Gauge({
    name: 'countersign_http_adapter',
    help: 'The HTTP server that serves, in its label.',
    labelNames: ['adapter'],
    registers,
  }).set({ adapter: sources.adapter }, 1)
  for (const [field, name, help] of WRITES) {
    const gauge = new Gauge({
      name,
      help,
      registers,
      collect() {
        gauge.set(sources.writes()[field])
      },
    })
  }
  const overloads = new Counter({
    name: 'countersign_overloads_total',
    help: 'Calls that move value and found no place.',
    registers,
    collect() {
      overloads.reset()
      overloads.inc(sources.writes().refusals)
    },
  })
}
