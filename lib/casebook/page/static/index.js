// Filters of the index of runs: as typed, and stated.
(() => {
  const form = document.querySelector('[data-cb-controls]');
  const said = document.querySelector('[data-cb-said]');
  const rows = [...document.querySelectorAll('.cb-runs tbody tr')];
  const histories = [...document.querySelectorAll('main > details')];
  const apply = () => {
    const find = form.elements.find.value.trim().toLowerCase();
    const { worst, show, ...of } = Object.fromEntries(new FormData(form));
    const about = row => ['case', 'notebook'].every(name => !of[name] || row.dataset[name] === of[name]);
    const wanted = row => about(row) && row.textContent.toLowerCase().includes(find)
      && (!worst || row.dataset.worst === worst)
      && (!show || row.dataset[show] === 'yes');
    rows.forEach(row => { row.hidden = !wanted(row); });
    histories.forEach(history => { history.hidden = !about(history); });
    said.textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length} runs.`;
  };
  form.addEventListener('input', apply);
  form.addEventListener('submit', event => event.preventDefault());
  apply();
})();
