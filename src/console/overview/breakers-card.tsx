import { useQuery } from '@tanstack/preact-query'
import { call, type Output } from '../api.js'
import { Card } from '../parts/page.js'
import { Answered, Empty, Problem } from '../parts/states.js'
import { useAction } from '../use-action.js'

const PATH = '/api/v1/agent/breakers'
const PRESETS = ['off', 'usual', 'strict'] as const
type Breaker = Output<'GET', typeof PATH>['breakers'][number]

/** The breakers of the user; those of one key are in its policy. */
export function BreakersCard() {
  const breakers = useQuery({ queryKey: [PATH], queryFn: () => call('GET', PATH, {}) })
  return (
    <Card title="Breakers">
      <Answered query={breakers} what="breakers">
        {({ breakers, preset }) => (
          <>
            {breakers.length === 0 ? (
              <Empty title="No breaker is set" />
            ) : (
              <ul class="rows small">
                {breakers.map((breaker) => (
                  <li key={JSON.stringify(breaker)}>{describeBreaker(breaker)}</li>
                ))}
              </ul>
            )}
            <Preset of={preset} />
          </>
        )}
      </Answered>
    </Card>
  )
}

function Preset({ of: preset }: { readonly of: (typeof PRESETS)[number] | null }) {
  return (
    <div class="actions">
      {PRESETS.map((one) => (
        <Choice key={one} of={one} isChosen={one === preset} />
      ))}
    </div>
  )
}

function Choice({ of: one, isChosen }: { readonly of: string; readonly isChosen: boolean }) {
  const preset = PRESETS.find((name) => name === one) ?? 'usual'
  const set = useAction(() => call('POST', PATH, { breakers: preset }))
  return (
    <>
      <button
        type="button"
        aria-pressed={isChosen}
        aria-label={`Breakers: ${one}`}
        disabled={set.isRunning}
        onClick={set.run}
      >
        {one}
      </button>
      {set.error !== null && <Problem error={set.error} />}
    </>
  )
}

const UNITS = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const

function describeBreaker(breaker: Breaker): string {
  const { kind, per_seconds, count, factor, wallets } = breaker
  const time = durationOf(per_seconds)
  switch (kind) {
    case 'refusals':
      return `${String(count)} refusals in ${time}`
    case 'new_beneficiaries':
      return `${String(count)} new beneficiaries in ${time}`
    case 'spend_factor':
      return `${String(factor)} times the usual spend in ${time}`
    case 'shared_beneficiary':
      return `${String(wallets)} wallets pay the same unknown address in ${time}`
    default:
      return `${kind.replaceAll('_', ' ')} in ${time}`
  }
}

function durationOf(seconds: number): string {
  const [size, name] = UNITS.find(([unit]) => seconds % unit === 0) ?? [1, 'second']
  const many = seconds / size
  return many === 1 ? `a ${name}`.replace('a hour', 'an hour') : `${many} ${name}s`
}
