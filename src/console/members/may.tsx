import type { ComponentChildren } from 'preact'
import { type Power, useMay } from './roles.js'

/** Shows its children only to people whose role has this power. */
export function May(shown: { readonly power: Power; readonly children: ComponentChildren }) {
  return useMay(shown.power) ? shown.children : null
}
