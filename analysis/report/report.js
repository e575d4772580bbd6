// SPDX-License-Identifier: BSD-3-Clause
// Sort, search and filter in tables, pictures and data to save, and where one is in the side bar. Without it everything can still be read.
"use strict";
(() => {
  const make = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };

  // ---- tables --------------------------------------------------------------------------------------------------------------
  const SEARCHED = 5; // rows from which on a table has a search field
  let everywhere = ""; // what is searched for in all tables
  const tables = [];

  const plain = (cell) => (cell.dataset.v ?? cell.textContent).replace(/\s+/g, " ").trim();
  const value = (cell) => (plain(cell) === "" ? null : cell.classList.contains("n") ? Number(plain(cell)) : plain(cell));
  const compare = (a, b) =>
    typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true, sensitivity: "base" });

  const prepare = (box) => {
    const table = box.querySelector("table");
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const texts = rows.map((row) => row.textContent.replace(/\s+/g, " ").toLowerCase());
    const headings = [...table.tHead.rows[0].cells];
    const count = make("span", { className: "count" });
    count.setAttribute("role", "status");
    const chosen = new Map(); // column -> the value that its rows have
    let searched = "";

    const show = () => {
      const words = [searched, everywhere].filter(Boolean);
      let shown = 0;
      rows.forEach((row, number) => {
        const has = words.every((word) => texts[number].includes(word));
        row.hidden = !(has && [...chosen].every(([column, text]) => plain(row.cells[column]) === text));
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = shown < rows.length ? `${shown} of ${rows.length} rows` : "";
      return shown;
    };
    const sort = (column, direction) => {
      headings.forEach((heading) => heading.removeAttribute("aria-sort"));
      if (!direction) {
        body.append(...rows);
        return;
      }
      headings[column].setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      const keyed = rows.map((row, number) => [value(row.cells[column]), number, row]);
      // What has no value comes last, whichever the direction; equal ones stay in their order.
      keyed.sort((a, b) =>
        a[0] === null || b[0] === null
          ? (a[0] === null) - (b[0] === null) || a[1] - b[1]
          : direction * compare(a[0], b[0]) || a[1] - b[1]);
      body.append(...keyed.map((one) => one[2]));
    };

    headings.forEach((heading, column) => {
      const first = heading.classList.contains("n") ? -1 : 1; // of figures the largest first
      // Not a <button>: Chromium leaves those out where it prints a heading again on the next page.
      const button = make("span", { tabIndex: 0, title: "Sort" }, ...heading.childNodes);
      button.setAttribute("role", "button");
      const press = () => {
        const now = { ascending: 1, descending: -1 }[heading.getAttribute("aria-sort")] || 0;
        sort(column, now === 0 ? first : now === first ? -first : 0);
      };
      button.addEventListener("click", press);
      button.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        press();
      });
      heading.append(button);
    });

    const tools = make("div", { className: "tools" });
    if (rows.length >= SEARCHED) {
      const input = make("input", { type: "search", size: 16 });
      input.addEventListener("input", () => {
        searched = input.value.trim().toLowerCase();
        show();
      });
      tools.append(make("label", {}, "Search ", input));
    }
    headings.forEach((heading, column) => {
      const different = [...new Set(rows.map((row) => plain(row.cells[column])))];
      if (heading.dataset.filter === undefined || different.length < 2) return;
      const select = make("select", {}, make("option", { value: "", textContent: "all" }));
      select.append(...different.map((text) => make("option", { value: text, textContent: text })));
      select.addEventListener("change", () => {
        if (select.value) chosen.set(column, select.value);
        else chosen.delete(column);
        show();
      });
      tools.append(make("label", {}, `${heading.textContent} `, select));
    });
    // On a narrow screen rows are cards without headings to press.
    const order = make("select", {}, make("option", { value: "", textContent: "as it is" }));
    order.append(...headings.map((heading, column) => make("option", { value: String(column), textContent: heading.textContent })));
    order.addEventListener("change", () => {
      if (order.value === "") sort(0, 0);
      else sort(Number(order.value), headings[order.value].classList.contains("n") ? -1 : 1);
    });
    tools.append(make("label", { className: "order" }, "Order ", order), count);
    box.prepend(tools);
    tables.push(show);
  };
  document.querySelectorAll(".table:not(.heat)").forEach((box) => {
    if (box.querySelectorAll("tbody tr").length > 1) prepare(box);
  });

  const found = make("p", { className: "source" });
  found.setAttribute("role", "status");
  const finder = make("input", { type: "search" });
  finder.addEventListener("input", () => {
    everywhere = finder.value.trim().toLowerCase();
    const counts = tables.map((show) => show());
    const rows = counts.reduce((sum, count) => sum + count, 0);
    found.textContent = everywhere ? `${rows} rows in ${counts.filter(Boolean).length} tables` : "";
  });
  document.getElementById("search").append(make("label", {}, "Search in all tables ", finder), found);

  // ---- pictures ------------------------------------------------------------------------------------------------------------
  const save = (blob, name) => {
    const url = URL.createObjectURL(blob);
    const link = make("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };
  const file = (svg) => {
    const copy = svg.cloneNode(true);
    const box = svg.viewBox.baseVal;
    copy.setAttribute("width", `${box.width}pt`);
    copy.setAttribute("height", `${box.height}pt`);
    return new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
  };
  const draw = (svg, name) => {
    const scale = 4;
    const box = svg.viewBox.baseVal;
    const picture = new Image();
    const reader = new FileReader(); // of a data URL, so that the canvas may be read
    reader.onload = () => { picture.src = reader.result; };
    picture.onload = () => {
      const canvas = make("canvas", { width: Math.round(box.width * scale), height: Math.round(box.height * scale) });
      const context = canvas.getContext("2d");
      context.fillStyle = "#fff";
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(picture, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, name), "image/png");
    };
    reader.readAsDataURL(file(svg));
  };
  document.querySelectorAll("[data-figure]").forEach((line) => {
    const id = line.dataset.figure;
    const figure = document.getElementById(id);
    const svg = figure.querySelector("svg");
    const of = () => make("span", { className: "hidden", textContent: ` of ${figure.querySelector("figcaption b").textContent}` });
    const vector = make("button", { type: "button" }, "SVG", of());
    vector.addEventListener("click", () => save(file(svg), `${id}.svg`));
    const pixels = make("button", { type: "button" }, "PNG", of());
    pixels.addEventListener("click", () => draw(svg, `${id}.png`));
    line.prepend(vector, pixels);
  });

  // ---- data ----------------------------------------------------------------------------------------------------------------
  const parse = (text) => { // RFC 4180
    const rows = [];
    let row = [];
    for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
      row.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
      if (end === ",") continue;
      rows.push(row);
      row = [];
    }
    return rows;
  };
  const json = (link) => {
    const { about, numbers } = JSON.parse(link.dataset.about);
    const [, ...texts] = parse(decodeURIComponent(link.href.slice(link.href.indexOf(",") + 1)));
    const value = (text, place) => (text === "" ? null : numbers.includes(place) ? Number(text) : text);
    return `${JSON.stringify({ ...about, rows: texts.map((row) => row.map(value)) }, null, 1)}\n`;
  };
  document.querySelectorAll("a[data-about]").forEach((link) => {
    const button = make("button", { type: "button" }, "JSON", link.querySelector(".hidden").cloneNode(true));
    button.addEventListener("click", () => save(new Blob([json(link)], { type: "application/json" }), button.dataset.json));
    button.dataset.json = link.download.replace(/csv$/, "json");
    link.after(button);
  });

  // ---- side bar ------------------------------------------------------------------------------------------------------------
  const contents = document.querySelector(".contents");
  if (window.matchMedia("(max-width: 1059px)").matches) contents.open = false;
  const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
  const visible = new Set();
  const watch = new IntersectionObserver((entries) => {
    entries.forEach((entry) => (entry.isIntersecting ? visible.add(entry.target.id) : visible.delete(entry.target.id)));
    links.forEach((link) => link.removeAttribute("aria-current"));
    const inner = [...links.keys()].filter((id) => visible.has(id) && !document.getElementById(id).classList.contains("chapter"));
    if (inner.length) links.get(inner[0]).setAttribute("aria-current", "location");
  }, { rootMargin: "0px 0px -60% 0px" });
  links.forEach((_, id) => watch.observe(document.getElementById(id)));
})();
