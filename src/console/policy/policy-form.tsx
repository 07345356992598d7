import { Card } from '../parts/page.js'
import { Empty } from '../parts/states.js'
import { field, type JsonObject, listAt, moved, withField } from './draft.js'
import { type Edited, EffectField, NumberField, TextField, Unedited } from './fields.js'
import { BreakersForm, CeilingsForm } from './limits-form.js'
import { RuleForm } from './rule-form.js'

const KNOWN = [
  ...['per_transaction_usd', 'max_swap_loss_bps', 'rules', 'default', 'ceilings', 'breakers'],
]

const SWAP_LOSS = ['max_swap_loss_bps']

/** An omitted value means the default; null means no bound. */
function SwapLoss({ root, set }: Edited) {
  const isUnbounded = field(root, SWAP_LOSS) === null
  return (
    <div class="pair">
      {!isUnbounded && (
        <NumberField
          root={root}
          set={set}
          path={SWAP_LOSS}
          label="A swap may lose at most, basis points"
          placeholder="500"
        />
      )}
      <label class="choice">
        <input
          type="checkbox"
          checked={isUnbounded}
          onChange={({ currentTarget }) => set(SWAP_LOSS, currentTarget.checked ? null : undefined)}
        />
        <span>Swaps may lose any amount</span>
      </label>
    </div>
  )
}

/** The common part of a policy as fields. */
export function PolicyForm(shown: {
  readonly value: JsonObject
  readonly onChange: (value: JsonObject) => void
}) {
  const { value: root, onChange } = shown
  const set = (path: readonly (string | number)[], value: Parameters<typeof withField>[2]) =>
    onChange(withField(root, path, value) as JsonObject)
  const rules = listAt(root, ['rules'])
  const odd = Object.keys(root).filter((name) => !KNOWN.includes(name))
  return (
    <div class="stack">
      <Card
        title="Rules"
        actions={
          <button
            type="button"
            onClick={() => set(['rules', rules.length], { name: '', effect: 'require_approval' })}
          >
            Add a rule
          </button>
        }
      >
        <div class="stack">
          <p class="small mute">
            A rule applies when all of its conditions hold. If several apply, refusing wins over
            asking, and asking over allowing.
          </p>
          {rules.length === 0 && <Empty title="No rule" />}
          {[...rules.keys()].map((index) => (
            <RuleForm
              key={index}
              root={root}
              set={set}
              index={index}
              count={rules.length}
              onMove={(by) => set(['rules'], moved(rules, index, by))}
            />
          ))}
          <div class="pair">
            <EffectField root={root} set={set} path={['default']} label="All other calls" />
            <TextField
              root={root}
              set={set}
              path={['per_transaction_usd']}
              label="Most that one call may spend, USD"
              inputMode="decimal"
            />
          </div>
          <SwapLoss root={root} set={set} />
          {odd.length > 0 && <Unedited root={root} set={set} path={[]} names={odd} />}
        </div>
      </Card>
      <CeilingsForm root={root} set={set} />
      <BreakersForm root={root} set={set} />
    </div>
  )
}
