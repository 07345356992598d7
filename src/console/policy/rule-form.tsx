import { field, isObject, type Json, type Path, textAt } from './draft.js'
import { type Edited, EffectField, NumberField, TextField, Unedited } from './fields.js'
import { WhenForm } from './when-form.js'

const KNOWN_RULE = ['name', 'effect', 'when', 'approvals', 'delay_seconds']

/** One rule: its effect, and the calls that it applies to. */
export function RuleForm(
  shown: Edited & {
    readonly index: number
    readonly count: number
    readonly onMove: (by: -1 | 1) => void
  },
) {
  const { root, set, index, count, onMove } = shown
  const path: Path = ['rules', index]
  const name = textAt(root, [...path, 'name']) || `rule ${index + 1}`
  const at = (...names: Path) => ({ root, set, path: [...path, ...names] })
  const rule = field(root, path)
  const effect = textAt(root, [...path, 'effect'])
  const odd = isObject(rule) ? Object.keys(rule).filter((one) => !KNOWN_RULE.includes(one)) : []
  return (
    <section class="card stack" aria-label={`Rule ${index + 1}`}>
      <div class="pair">
        <TextField {...at('name')} label="Name" placeholder="large payments" />
        <EffectField
          {...at('effect')}
          set={(_, chosen) => set(path, withEffect(rule, chosen))}
          label="What happens"
        />
      </div>
      <WhenForm {...at('when')} />
      {odd.length > 0 && <Unedited root={root} set={set} path={path} names={odd} />}
      {effect === 'require_approval' && (
        <div class="pair">
          <NumberField {...at('approvals', 'needed')} label="Approvals needed" placeholder="1" />
          <NumberField
            {...at('approvals', 'expires_seconds')}
            label="Within, seconds"
            placeholder="3600"
          />
        </div>
      )}
      {effect !== 'deny' && (
        <NumberField {...at('delay_seconds')} label="Waits for, seconds" placeholder="0" />
      )}
      <div class="actions">
        <button
          type="button"
          disabled={index === 0}
          aria-label={`Move ${name} up`}
          onClick={() => onMove(-1)}
        >
          Up
        </button>
        <button
          type="button"
          disabled={index === count - 1}
          aria-label={`Move ${name} down`}
          onClick={() => onMove(1)}
        >
          Down
        </button>
        <button
          type="button"
          class="danger-quiet"
          aria-label={`Remove ${name}`}
          onClick={() => set(path, undefined)}
        >
          Remove
        </button>
      </div>
    </section>
  )
}

/** Removes fields that the effect does not use, which the service would refuse. */
function withEffect(rule: Json | undefined, effect: Json | undefined): Json {
  const fields = Object.entries({ ...(isObject(rule) ? rule : {}), effect: effect ?? null })
  return Object.fromEntries(
    fields.filter(
      ([name]) =>
        (name !== 'approvals' || effect === 'require_approval') &&
        (name !== 'delay_seconds' || effect !== 'deny'),
    ),
  )
}
