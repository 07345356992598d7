import { Gauge, type Registry } from 'prom-client'

/** The state of what calls depend on: prices, the other two domains, freezes and the disk. */
export interface DependencySources {
  readonly prices: () => readonly FeedAge[]
  readonly quorum: () => {
    readonly identityProvider: boolean
    readonly quorumSigner: boolean
    readonly complete: boolean
    readonly fenced: boolean
  }
  readonly freezes: () => Readonly<Record<string, number>>
  readonly disk: { readonly freeBytes: number | null; readonly floorBytes: number }
}

interface FeedAge {
  readonly chainId: number
  readonly source: string
  /** Why the feed gives no price now; null if it gives one. */
  readonly gap: string | null
  readonly ageMs: number | null
  readonly maxAgeMs: number
}

const MS_PER_SECOND = 1_000

/** Read when Prometheus scrapes, from what the process already knows. */
export function registerDependencyGauges(registry: Registry, sources: DependencySources): void {
  const registers = [registry]
  /** @param of returns null for a feed to leave out */
  function ofFeeds(name: string, help: string, of: (feed: FeedAge) => number | null): void {
    const gauge = new Gauge({
      ...{ name, help, labelNames: ['chain_id', 'feed'], registers },
      collect() {
        gauge.reset()
        for (const feed of sources.prices()) {
          const value = of(feed)
          if (value !== null) gauge.set({ chain_id: feed.chainId, feed: feed.source }, value)
        }
      },
    })
  }
  ofFeeds(
    'countersign_price_usable',
    '1 while the feed gives a price; without one, calls that need it are refused.',
    ({ gap }) => (gap === null ? 1 : 0),
  )
  ofFeeds(
    'countersign_price_age_seconds',
    'Time since the feed was updated; absent while it has no acceptable round.',
    ({ ageMs }) => (ageMs === null ? null : ageMs / MS_PER_SECOND),
  )
  ofFeeds(
    'countersign_price_age_max_seconds',
    'The age at which the feed stops giving a price.',
    ({ maxAgeMs }) => maxAgeMs / MS_PER_SECOND,
  )
  const reachable = new Gauge({
    name: 'countersign_domain_reachable',
    help: '1 while every thread that signs reaches the other domain.',
    labelNames: ['domain'],
    registers,
    collect() {
      const { identityProvider, quorumSigner } = sources.quorum()
      reachable.set({ domain: 'identity_provider' }, identityProvider ? 1 : 0)
      reachable.set({ domain: 'quorum_signer' }, quorumSigner ? 1 : 0)
    },
  })
  const complete = new Gauge({
    name: 'countersign_quorum_complete',
    help: '1 while sessions with both domains exist; without them nothing can be signed.',
    registers,
    collect() {
      complete.set(sources.quorum().complete ? 1 : 0)
    },
  })
  const fenced = new Gauge({
    name: 'countersign_quorum_fenced',
    help: '1 once a later start of the service has taken over; this one can no longer sign.',
    registers,
    collect() {
      fenced.set(sources.quorum().fenced ? 1 : 0)
    },
  })
  const freezes = new Gauge({
    name: 'countersign_freezes',
    help: 'Freezes in force, by scope.',
    labelNames: ['scope'],
    registers,
    collect() {
      for (const [scope, count] of Object.entries(sources.freezes())) freezes.set({ scope }, count)
    },
  })
  const free = new Gauge({
    name: 'countersign_disk_free_bytes',
    help: "Free space of the store's disk; 0 if it cannot be read.",
    registers,
    collect() {
      free.set(sources.disk.freeBytes ?? 0)
    },
  })
  new Gauge({
    name: 'countersign_disk_floor_bytes',
    help: 'With less free space than this, no call that moves value begins.',
    registers,
  }).set(sources.disk.floorBytes)
}
