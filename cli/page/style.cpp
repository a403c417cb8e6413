// SPDX-License-Identifier: Apache-2.0
#include "style.hpp"

namespace arcalloc::cli::page {

// The colours of the legs are from the Okabe-Ito set, which people with any of the common kinds of
// colour blindness can tell apart.
const char* style_sheet() {
  return R"css(
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--quiet:#5d6672;--rule:#d9dde2;--faint:#eceff2;--panel:#f6f7f9;
--off:#6f7782;--unbounded:#d55e00;--exact:#0072b2;--bounded:#00805d;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--paper:#14171b;--ink:#e8eaed;--quiet:#9aa4b0;--rule:#363c44;--faint:#262b31;
--panel:#1c2026;--off:#a3acb8;--unbounded:#ff8f45;--exact:#63b8ef;--bounded:#35cfa2;--bad:#ff8a80}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,"Noto Sans",sans-serif}
main{max-width:1080px;margin:0 auto;padding:40px 28px 56px}
header p.kind{margin:0 0 6px;color:var(--quiet);font-size:13px;letter-spacing:.02em}
h1{margin:0;font-size:28px;line-height:1.25;font-weight:650;letter-spacing:-.01em}
p.verdict{margin:12px 0 0;font-size:18px;line-height:1.45;max-width:54em}
p.bad{color:var(--bad);font-weight:600;margin:10px 0 0}
h2{margin:44px 0 10px;font-size:17px;line-height:1.3;font-weight:650}
h3{margin:22px 0 4px;font-size:14px;font-weight:600}
p{max-width:46em}
p.note{margin:0 0 12px;color:var(--quiet);font-size:13.5px}
dl.key-figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(180px,1fr));gap:0;margin:26px 0 0;
border-top:1px solid var(--rule);border-bottom:1px solid var(--rule)}
dl.key-figures div{padding:12px 16px 12px 0}
dl.key-figures dt{color:var(--quiet);font-size:13px}
dl.key-figures dd{margin:2px 0 0;font-size:24px;line-height:1.25;font-weight:600;font-variant-numeric:tabular-nums}
dl.key-figures dd small{display:block;font-size:13px;font-weight:400;color:var(--quiet)}
.frame{overflow-x:auto;margin:0 0 4px}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
th,td{padding:7px 0 7px 18px;text-align:left;vertical-align:top;white-space:nowrap}
th:first-child,td:first-child{padding-left:0;position:sticky;left:0;background:var(--paper)}
th{font-weight:500;color:var(--quiet);font-size:12.5px;line-height:1.3;vertical-align:bottom;border-bottom:1px solid var(--rule)}
td{border-bottom:1px solid var(--faint)}
th small{display:block;font-size:11.5px;opacity:.85}
.n{text-align:right}
i.key{display:inline-block;width:9px;height:9px;border-radius:50%;margin-right:8px}
.k-off{background:var(--off);fill:var(--off)}.k-unbounded{background:var(--unbounded);fill:var(--unbounded)}
.k-exact{background:var(--exact);fill:var(--exact)}.k-bounded{background:var(--bounded);fill:var(--bounded)}
svg{display:block;width:100%;height:auto;font-family:inherit}
.narrow svg{display:none}
.grid{stroke:var(--faint);stroke-width:1}.zero{stroke:var(--quiet);stroke-width:1;opacity:.6}
.tick,.axis{fill:var(--quiet);font-size:12.5px;font-variant-numeric:tabular-nums}
.curve,.end{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}
.c-off{stroke:var(--off);stroke-dasharray:1 5}.c-unbounded{stroke:var(--unbounded)}
.c-exact{stroke:var(--exact);stroke-dasharray:8 5}.c-bounded{stroke:var(--bounded);stroke-width:3}
.end{stroke-dasharray:none;stroke-width:2.5}
.label{font-size:13.5px;font-weight:600}.value{fill:var(--quiet);font-size:12.5px;font-weight:400}
.t-off{fill:var(--off)}.t-unbounded{fill:var(--unbounded)}.t-exact{fill:var(--exact)}.t-bounded{fill:var(--bounded)}
.s-reserved{stroke:var(--unbounded)}.s-allocated{stroke:var(--exact)}.s-requested{stroke:var(--off);stroke-dasharray:2 4}
.s-cached{stroke:var(--bounded)}.s-slack{stroke:var(--unbounded);stroke-dasharray:8 4}.s-pending{stroke:var(--exact);
stroke-dasharray:4 3}.s-pinned{stroke:var(--off);stroke-dasharray:1 4}
.st-reserved,.st-slack{fill:var(--unbounded)}.st-allocated,.st-pending{fill:var(--exact)}.st-requested,.st-pinned{
fill:var(--off)}.st-cached{fill:var(--bounded)}.bound{stroke:var(--bad);stroke-width:1.2;stroke-dasharray:6 4}
td.bars{width:28%;min-width:120px}.bar{display:inline-block;height:10px;background:var(--exact);border-radius:2px}
.lead{stroke:var(--rule);stroke-width:1}
pre{margin:0;padding:14px 16px;background:var(--panel);border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;
font:13.5px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;max-height:24em;overflow-y:auto}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:4px 22px;margin:14px 0 18px;font-size:14px}
dl.facts dt{color:var(--quiet)}dl.facts dd{margin:0;overflow-wrap:anywhere}
code{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
@media (max-width:640px){main{padding:24px 16px 40px}h1{font-size:23px}p.verdict{font-size:16px}h2{margin-top:34px}
dl.key-figures{grid-template-columns:1fr 1fr}dl.key-figures dd{font-size:19px}
.wide{display:none}.narrow svg{display:block}dl.facts{grid-template-columns:1fr;gap:0}dl.facts dd{margin-bottom:8px}
th,td{padding-left:14px}}
@media print{body{font-size:12px}main{padding:0}pre{max-height:none}}
)css";
}

}  // namespace arcalloc::cli::page
