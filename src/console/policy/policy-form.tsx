import { Card } from '../parts/page.js'
import { Empty } from '../parts/states.js'
import { type JsonObject, listAt, moved, withField } from './draft.js'
import { EffectField, TextField, Unedited } from './fields.js'
import { BreakersForm, CeilingsForm } from './limits-form.js'
import { RuleForm } from './rule-form.js'

const KNOWN = ['per_transaction_usd', 'rules', 'default', 'ceilings', 'breakers']

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
            All that a rule names must hold. Where rules differ, refusing wins, then asking, then
            allowing.
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
              label="One call at most, USD"
              inputMode="decimal"
            />
          </div>
          {odd.length > 0 && <Unedited root={root} set={set} path={[]} names={odd} />}
        </div>
      </Card>
      <CeilingsForm root={root} set={set} />
      <BreakersForm root={root} set={set} />
    </div>
  )
}
