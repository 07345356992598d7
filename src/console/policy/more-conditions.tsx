import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import {
  argumentJson,
  argumentText,
  coinsOf,
  isAllOf,
  weiOf,
  withOperator,
} from './condition-values.js'
import { field, type Json, listAt, type Path, textAt } from './draft.js'
import { Entries } from './entries.js'
import { ChoiceField, type Edited, LinesField, NumberField, SetField, TextField } from './fields.js'

const OPERATORS = { eq: 'exactly', in: 'one of', lte: 'at most', gte: 'at least' } as const
const DAYS = [
  ['mon', 'Monday'],
  ['tue', 'Tuesday'],
  ['wed', 'Wednesday'],
  ['thu', 'Thursday'],
  ['fri', 'Friday'],
  ['sat', 'Saturday'],
  ['sun', 'Sunday'],
] as const

export const MORE_NAMES = [
  'value_native_gt',
  'value_native_lte',
  'amounts',
  'arguments',
  'count',
  'sum_usd',
  'utc_hours',
  'token_out',
]

interface OfWhen extends Edited {
  /** Path of the `when`. */
  readonly path: Path
}

/** Less common conditions: native coins, units, arguments, counts over time, hours. */
export function MoreConditions({ root, set, path }: OfWhen) {
  const at = (...names: Path) => ({ root, set, path: [...path, ...names] })
  return (
    <>
      <div class="pair">
        <CoinField {...at('value_native_gt')} label="Sends more than, native coin" />
        <CoinField {...at('value_native_lte')} label="At most, native coin" />
      </div>
      <Amounts {...at('amounts')} />
      <Arguments {...at('arguments')} />
      <OverTime {...at('count')} label="More calls than" isMoney={false} />
      <OverTime {...at('sum_usd')} label="More spent than, USD" isMoney />
      <UtcHours {...at('utc_hours')} />
      <LinesField
        {...at('token_out')}
        label="Receives one of these tokens, one per line"
        placeholder="0x… or native"
      />
    </>
  )
}

/** Whole coins in the field, wei in the JSON. */
function CoinField(shown: OfWhen & { readonly label: string }) {
  const { root, set, path, label } = shown
  const wei = textAt(root, path)
  const [typed, type] = useState('')
  // The typed text stays as it is, including `1.0`, until the amount is changed in another place.
  const text = weiOf(typed) === wei ? typed : coinsOf(wei)
  return (
    <label>
      {label}
      <input
        value={text}
        inputMode="decimal"
        spellcheck={false}
        autocomplete="off"
        onInput={({ currentTarget: { value } }) => {
          type(value)
          set(path, value === '' ? undefined : weiOf(value))
        }}
      />
    </label>
  )
}

function Amounts({ root, set, path }: OfWhen) {
  return (
    <Several
      {...{ root, set, path }}
      title="Moves, or lets others take, an amount of a token"
      name="amount"
      fresh={{ token: '' }}
    >
      {(one) => {
        const at = (name: string) => ({ root, set, path: [...one, name] })
        return (
          <>
            <TextField {...at('token')} label="Token" placeholder="0x… or native" />
            <TextField {...at('gt')} label="More than, smallest units" inputMode="numeric" />
            <TextField {...at('lte')} label="At most, smallest units" inputMode="numeric" />
          </>
        )
      }}
    </Several>
  )
}

function Arguments({ root, set, path }: OfWhen) {
  return (
    <Several
      {...{ root, set, path }}
      title="Arguments of the one function named above"
      name="argument"
      fresh={{ index: 0, op: 'eq', value: '' }}
    >
      {(one) => {
        const at = (name: string) => ({ root, set, path: [...one, name] })
        return (
          <>
            <NumberField {...at('index')} label="Which, from 0" />
            <ChoiceField
              {...at('op')}
              label="Is"
              options={OPERATORS}
              set={(_path, op) => set(one, withOperator(field(root, one), op))}
            />
            {textAt(root, [...one, 'op']) === 'in' ? (
              <LinesField {...at('value')} set={setFlags(set)} label="One of these, one per line" />
            ) : (
              <label>
                Value
                <input
                  value={argumentText(field(root, [...one, 'value']))}
                  spellcheck={false}
                  autocomplete="off"
                  onInput={({ currentTarget: { value } }) =>
                    set([...one, 'value'], argumentJson(value))
                  }
                />
              </label>
            )}
          </>
        )
      }}
    </Several>
  )
}

/** An emptied list stays a list, because the operator accepts nothing else. */
function setFlags(set: Edited['set']): Edited['set'] {
  return (path, lines) =>
    set(path, Array.isArray(lines) ? lines.map((line) => argumentJson(String(line))) : [])
}

function OverTime(shown: OfWhen & { readonly label: string; readonly isMoney: boolean }) {
  const { root, set, path, label, isMoney } = shown
  const setWithin: Edited['set'] = (to, value) =>
    value === undefined && isAllOf(root, path, to) ? set(path, undefined) : set(to, value)
  const at = (name: string) => ({ root, set: setWithin, path: [...path, name] })
  return (
    <div class="pair">
      {isMoney ? (
        <TextField {...at('gt')} label={label} inputMode="decimal" />
      ) : (
        <NumberField {...at('gt')} label={label} />
      )}
      <NumberField {...at('per_seconds')} label="Within, seconds" placeholder="86400" />
    </div>
  )
}

function UtcHours({ root, set, path }: OfWhen) {
  return (
    <Several
      {...{ root, set, path }}
      title="In these hours, UTC"
      name="span of hours"
      fresh={{ from: '08:00', to: '18:00' }}
    >
      {(one) => {
        const at = (name: string) => ({ root, set, path: [...one, name] })
        return (
          <>
            <SetField {...at('days')} label="On; none chosen: every day" options={DAYS} />
            <TextField {...at('from')} label="From" placeholder="08:00" />
            <TextField {...at('to')} label="Until" placeholder="18:00" />
          </>
        )
      }}
    </Several>
  )
}

function Several(
  shown: OfWhen & {
    readonly title: string
    readonly name: string
    readonly fresh: Json
    readonly children: (path: Path) => ComponentChildren
  },
) {
  const { root, set, path, title, name, fresh } = shown
  return (
    <fieldset>
      <legend>{title}</legend>
      <Entries {...{ root, set, path, name }}>{shown.children}</Entries>
      <button
        type="button"
        class="add-entry"
        onClick={() => set([...path, listAt(root, path).length], fresh)}
      >
        Add {/^[aeiou]/.test(name) ? 'an' : 'a'} {name}
      </button>
    </fieldset>
  )
}
