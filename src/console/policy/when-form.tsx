import { useState } from 'preact/hooks'
import { CHAIN_IDS, chainName } from '../parts/chain-names.js'
import { field, isObject, type Path } from './draft.js'
import { ChoiceField, type Edited, LinesField, SetField, TextField, Unedited } from './fields.js'
import { MORE_NAMES, MoreConditions } from './more-conditions.js'

const OPERATIONS = [
  ['send', 'sends'],
  ['swap', 'swaps'],
  ['defi_deposit', 'deposits'],
  ['defi_withdraw', 'withdrawals'],
  ['gas_swap', 'gas swaps'],
] as const
const CHAINS = CHAIN_IDS.map((id) => [id, chainName(id)] as const)
const NEW_PAYEE = { true: 'a new address', false: 'no new address' } as const
const COMMON_NAMES = [
  'operations',
  'chains',
  'spend_usd_gt',
  'spend_usd_lte',
  'new_beneficiary',
  'beneficiaries',
  'to',
  'functions',
]

interface OfWhen extends Edited {
  /** Path of the `when`. */
  readonly path: Path
}

/** The conditions of a rule: first the most common, then the others, then the exception. */
export function WhenForm({ root, set, path }: OfWhen) {
  const names = namesAt(root, path)
  const folded = names.filter((name) => name === 'not' || MORE_NAMES.includes(name)).length
  const [isOpen, setOpen] = useState(folded > 0)
  return (
    <>
      <CommonConditions {...{ root, set, path }} />
      <details
        class="more-conditions"
        open={isOpen}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary>More conditions{folded > 0 && ` (${folded})`}</summary>
        {isOpen && (
          <div class="stack">
            <MoreConditions {...{ root, set, path }} />
            <Exception {...{ root, set, path: [...path, 'not'] }} />
          </div>
        )}
      </details>
      <Odd {...{ root, set, path }} known={['not']} />
    </>
  )
}

/** One nested `when`, which has no exception itself. */
function Exception({ root, set, path }: OfWhen) {
  if (field(root, path) === undefined) {
    return (
      <div class="actions">
        <button type="button" onClick={() => set(path, {})}>
          Add an exception
        </button>
      </div>
    )
  }
  return (
    <fieldset class="exception stack">
      <legend>Except when all of this holds</legend>
      <CommonConditions {...{ root, set, path }} />
      <MoreConditions {...{ root, set, path }} />
      <Odd {...{ root, set, path }} known={[]} />
      <button type="button" class="danger-quiet" onClick={() => set(path, undefined)}>
        Remove the exception
      </button>
    </fieldset>
  )
}

function CommonConditions({ root, set, path }: OfWhen) {
  const at = (...names: Path) => ({ root, set, path: [...path, ...names] })
  return (
    <>
      <SetField {...at('operations')} label="Of" options={OPERATIONS} />
      <SetField {...at('chains')} label="On" options={CHAINS} />
      <div class="pair">
        <TextField {...at('spend_usd_gt')} label="Worth more than, USD" inputMode="decimal" />
        <TextField {...at('spend_usd_lte')} label="At most, USD" inputMode="decimal" />
      </div>
      <ChoiceField
        root={newPayeeText(field(root, [...path, 'new_beneficiary']))}
        path={['it']}
        set={(_path, value) =>
          set([...path, 'new_beneficiary'], value === undefined ? undefined : value === 'true')
        }
        label="Pays"
        none="anybody"
        options={NEW_PAYEE}
      />
      <LinesField {...at('beneficiaries')} label="Pays only these, one per line" />
      <LinesField {...at('to')} label="Calls one of these, one per line" />
      <LinesField
        {...at('functions')}
        label="One of these functions, one per line"
        placeholder="transfer(address,uint256)"
      />
    </>
  )
}

/** Shows conditions that have no field. */
function Odd({ root, set, path, known }: OfWhen & { readonly known: readonly string[] }) {
  const all = [...COMMON_NAMES, ...MORE_NAMES, ...known]
  const odd = namesAt(root, path).filter((name) => !all.includes(name))
  return odd.length === 0 ? null : <Unedited {...{ root, set, path }} names={odd} />
}

function namesAt(root: Edited['root'], path: Path): readonly string[] {
  const found = field(root, path)
  return isObject(found) ? Object.keys(found) : []
}

function newPayeeText(found: unknown) {
  return typeof found === 'boolean' ? { it: String(found) } : {}
}
