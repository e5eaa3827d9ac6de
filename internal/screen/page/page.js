(function () {
  'use strict';
  var each = function (all, f) { Array.prototype.forEach.call(all, f); };
  var seconds = { d: 86400, h: 3600, m: 60, s: 1 };
  // key is what a cell is sorted by: a duration, the number that it begins with, or its words.
  var key = function (cell) {
    var text = cell ? cell.textContent.trim() : '', sum = 0, n = 0;
    if (/^(less than )?(\d+[dhms])+/.test(text)) {
      text.match(/(\d+[dhms])+/)[0].replace(/(\d+)([dhms])/g, function (_, many, unit) { sum += many * seconds[unit]; });
      return sum;
    }
    n = parseFloat(text);
    return isNaN(n) || !/^-?\d+(\.\d+)?( of \d+| each)?$/.test(text) ? text : n;
  };
  var compare = function (a, b) {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
    return a.localeCompare(b, 'en', { numeric: true });
  };
  each(document.querySelectorAll('table.sorts'), function (table) {
    var heads = table.tHead.rows[0].cells, whole = table.tBodies.length === 1;
    // What moves is a row, or where something stands below one, a body of it all.
    var first = Array.prototype.slice.call(whole ? table.tBodies[0].rows : table.tBodies), home = whole ? table.tBodies[0] : table;
    each(heads, function (th, column) {
      if (!th.textContent) return;
      var button = document.createElement('button');
      button.type = 'button';
      button.textContent = th.textContent;
      th.textContent = '';
      th.appendChild(button);
      button.addEventListener('click', function () {
        var next = { none: 'ascending', ascending: 'descending', descending: 'none' }[th.getAttribute('aria-sort') || 'none'];
        each(heads, function (other) { other.removeAttribute('aria-sort'); });
        var order = first.map(function (body) { return { body: body, key: key((whole ? body : body.rows[0]).cells[column]), last: body.className === 'last' }; });
        if (next !== 'none') {
          th.setAttribute('aria-sort', next);
          order.sort(function (a, b) {
            return a.last - b.last || compare(a.key, b.key) * (next === 'ascending' ? 1 : -1);
          });
        }
        order.forEach(function (row) { home.appendChild(row.body); });
      });
    });
  });
  each(document.querySelectorAll('figure.grid'), function (grid) {
    each(grid.querySelectorAll('.legend li'), function (entry) {
      var button = document.createElement('button'), sign = entry.querySelector('i');
      button.type = 'button';
      button.title = 'Show these alone';
      button.setAttribute('aria-pressed', 'false');
      while (entry.firstChild) button.appendChild(entry.firstChild);
      entry.appendChild(button);
      button.addEventListener('click', function () {
        var only = button.getAttribute('aria-pressed') === 'false';
        each(grid.querySelectorAll('.legend button'), function (other) { other.setAttribute('aria-pressed', 'false'); });
        button.setAttribute('aria-pressed', String(only));
        each(grid.querySelectorAll('.cells li'), function (cell) {
          var own = cell.firstChild;
          cell.classList.toggle('dim', only && (own.className !== sign.className || own.textContent !== sign.textContent));
        });
      });
    });
    grid.addEventListener('pointerover', function (e) {
      var cell = e.target.closest('.cells li');
      if (cell && !cell.title) cell.title = cell.textContent.slice(cell.firstChild.textContent.length).trim();
    });
  });
  var opened = [];
  window.addEventListener('beforeprint', function () {
    each(document.querySelectorAll('details:not([open]):not(.long)'), function (d) { d.open = true; opened.push(d); });
  });
  window.addEventListener('afterprint', function () {
    opened.splice(0).forEach(function (d) { d.open = false; });
  });
})();
