import type { ComponentChildren } from 'preact'
import { CHAIN_IDS, chainName } from '../parts/chain-names.js'
import { Card } from '../parts/page.js'
import { field, type Json, listAt, type Path } from './draft.js'
import { Entries } from './entries.js'
import { ChoiceField, type Edited, NumberField, TextField } from './fields.js'

const CHAINS = Object.fromEntries(CHAIN_IDS.map((id) => [String(id), chainName(id)]))
const PERIODS = { day: 'a day', month: 'a month' }
const KINDS = {
  refusals: 'refusals',
  new_beneficiaries: 'new payees',
  spend_factor: 'times the usual spend',
}
const DAY_SECONDS = 86_400

/** The most units that may leave, whatever the rules allow. */
export function CeilingsForm({ root, set }: Edited) {
  return (
    <EntriesCard
      title="Ceilings"
      name="ceiling"
      words="The most units that may leave in a day or a month, whatever the rules allow."
      fresh={{ chain_id: CHAIN_IDS[0] ?? 1, token: 'native', per: 'day', amount: '' }}
      root={root}
      set={set}
      listName="ceilings"
    >
      {(one) => {
        const at = (name: string) => ({ root, set, path: [...one, name] })
        return (
          <>
            <ChoiceField
              {...at('chain_id')}
              label="Chain"
              options={CHAINS}
              set={(path, value) => set(path, value === undefined ? undefined : Number(value))}
            />
            <TextField {...at('token')} label="Token" placeholder="native" />
            <TextField {...at('amount')} label="Smallest units" inputMode="numeric" />
            <ChoiceField {...at('per')} label="Per" options={PERIODS} />
          </>
        )
      }}
    </EntriesCard>
  )
}

/** The breakers of the key. */
export function BreakersForm({ root, set }: Edited) {
  return (
    <EntriesCard
      title="Breakers"
      name="breaker"
      words="The key is frozen automatically when its use becomes unusual."
      fresh={{ kind: 'refusals', count: 50, per_seconds: 300 }}
      root={root}
      set={set}
      listName="breakers"
    >
      {(one) => {
        const at = (name: string) => ({ root, set, path: [...one, name] })
        const isFactor = field(root, [...one, 'kind']) === 'spend_factor'
        return (
          <>
            <NumberField {...at(isFactor ? 'factor' : 'count')} label="More than" />
            <ChoiceField
              {...at('kind')}
              label="Of"
              options={KINDS}
              set={(_path, kind) => set(one, freshBreaker(kind))}
            />
            <NumberField {...at('per_seconds')} label="In, seconds" />
          </>
        )
      }}
    </EntriesCard>
  )
}

function freshBreaker(kind: Json | undefined): Json {
  return kind === 'spend_factor'
    ? { kind, factor: 10, per_seconds: DAY_SECONDS }
    : { kind: kind ?? 'refusals', count: 50, per_seconds: 300 }
}

function EntriesCard(
  shown: Edited & {
    readonly title: string
    readonly name: string
    readonly words: string
    readonly listName: string
    readonly fresh: Json
    readonly children: (path: Path) => ComponentChildren
  },
) {
  const { root, set, title, name, words, listName, fresh } = shown
  const count = listAt(root, [listName]).length
  return (
    <Card
      title={title}
      actions={
        <button type="button" onClick={() => set([listName, count], fresh)}>
          Add a {name}
        </button>
      }
    >
      <p class="small mute">{words}</p>
      <Entries {...{ root, set, name }} path={[listName]}>
        {shown.children}
      </Entries>
    </Card>
  )
}
