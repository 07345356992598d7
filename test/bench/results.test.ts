import { describe, expect, test } from 'vitest'
import { barChart } from '../../bench/chart.js'
import { comparison, comparisonText, differsIn } from '../../bench/compare-ratios.js'
import type { ResultsFile } from '../../bench/results-file.js'
import { medianOfRounds } from '../../bench/rounds.js'

function results(commit: string, ratios: Record<string, number>, cores = 2): ResultsFile {
  const machine = { cpu: 'x', cores, memoryBytes: 1 }
  const bench = 'npm run bench -- read'
  return { bench, context: { at: '', commit, node: 'v20', machine, versions: {} }, ratios }
}

describe('results of a benchmark', () => {
  test('are medians, field by field; an error that came in one round of three is none', () => {
    const rounds = [
      { label: 'a', perSecond: 10, cpu: { main: 3 }, refused: { '503': 5 } },
      { label: 'a', perSecond: 30, cpu: { main: 1 }, refused: {} },
      { label: 'a', perSecond: 20, cpu: { main: 2 }, refused: {} },
    ]
    expect(medianOfRounds(rounds)).toEqual({
      label: 'a',
      perSecond: 20,
      cpu: { main: 2 },
      refused: { '503': 0 },
    })
  })

  test('two files are compared ratio by ratio, also where one lacks it', () => {
    const [before, after] = [results('aaa', { x: 0.5, gone: 1 }), results('bbb', { x: 0.6 })]
    const text = comparisonText(before, after)
    expect(text).toMatch(/x\s+0\.500\s+0\.600\s+\+20\.0 %/)
    expect(text).toMatch(/gone\s+1\.000\s+–\s+–/)
    expect(comparison(before, after)).toMatchObject({ gone: { after: null, change: null } })
  })

  test('files of two machines are compared with a word about it', () => {
    expect(differsIn(results('aaa', {}), results('aaa', {}))).toEqual([])
    const lines = differsIn(results('aaa', {}), results('aaa', {}, 8))
    expect(lines).toEqual(['different machine: 2 × x, Node v20 and 8 × x, Node v20'])
  })

  test('have the mean of the two in the middle when rounds are even in number', () => {
    expect(medianOfRounds([{ x: 4 }, { x: 1 }])).toEqual({ x: 2.5 })
  })

  test('a chart is well-formed whatever the labels say', () => {
    const bars = [{ label: 'a <b> & c', value: 0, text: '0', mark: 2 }]
    const svg = barChart([{ title: 't', bars }])
    expect(svg).toContain('a &lt;b&gt; &amp; c')
    expect(svg).not.toContain('NaN')
    expect(svg.match(/<line /g)).toHaveLength(1)
  })
})
