--- The values that a preview shows: its parameter sets, the fields that can be typed, its chapters.
local M = {}

local MADE_UP = 'made up'
local ORIGINS = {
  given = 'typed',
  bound = 'bound by the author',
  default = 'default',
  default_params = "the section's default",
  generated = MADE_UP,
}
local RESET = 'Take the typed value back'

local choose_value, fields_of, given, label, origin, parse, send, set_field, typed_value

---@class foldline.NamedField
---@field name string "Project.language", as commands take it
---@field key string what `setParams` takes: the dataclass, or the section's key
---@field parameters foldline.Parameters
---@field field foldline.Field

--- The field of that name, or the only one whose name ends so: `language` for `Project.language`.
---@param fields foldline.NamedField[]
---@param name string
---@return foldline.NamedField?
local function find(fields, name)
  local ending = {}
  for _, named in ipairs(fields) do
    if named.name == name then
      return named
    elseif vim.endswith(named.name, '.' .. name) then
      table.insert(ending, named)
    end
  end
  return #ending == 1 and ending[1] or nil
end

--- Asks for a field and its new value; each may be given instead.
---@param preview foldline.Preview
---@param name string? "Project.language", or "language" where no other field is called so
---@param text string? the value as it is typed
function M.edit(preview, name, text)
  local fields = fields_of(preview)
  if name then
    local named = find(fields, name)
    if named and text then
      return set_field(preview, named, parse(named.field, text))
    elseif named then
      return choose_value(preview, named)
    end
    local names = table.concat(M.field_names(preview), ', ')
    local message = ('there is no field %s; there is %s'):format(name, names)
    return require('foldline').notify(message, vim.log.levels.ERROR)
  end
  if #fields == 0 then
    return require('foldline').notify('this prompt has no parameters that are known')
  end
  vim.ui.select(fields, {
    prompt = 'Change which value?',
    format_item = function(named)
      return label(preview, named)
    end,
  }, function(named)
    if named then
      choose_value(preview, named)
    end
  end)
end

--- Takes all typed values back.
---@param preview foldline.Preview
function M.clear(preview)
  send(preview, vim.empty_dict())
end

--- Shows the prompt with a parameter set; without a name it asks which.
---@param preview foldline.Preview
---@param name string?
function M.choose_set(preview, name)
  if name then
    return require('foldline.preview').step(preview, 'prompt.setParams', { parameter_set = name })
  end
  local sets = preview.parameter_sets or {}
  if #sets == 0 then
    return require('foldline').notify(
      'this prompt has no parameter sets: a function preview_…() in its module makes one'
    )
  end
  vim.ui.select(M.set_names(preview), {
    prompt = 'Show which parameter set?',
    format_item = function(item)
      for _, set in ipairs(sets) do
        if set.name == item then
          local from = table.concat(vim.tbl_map(origin, set.origins), ', ')
          local used = item == preview.parameter_set and ', in use' or ''
          return ('%s: %s%s'):format(item, from, used)
        end
      end
      return item .. ': no fixtures or files of values'
    end,
  }, function(item)
    if item then
      M.choose_set(preview, item)
    end
  end)
end

--- Opens a chapter or closes it; without a key it asks which.
---@param preview foldline.Preview
---@param key string?
function M.toggle_chapter(preview, key)
  local chapters = preview.chapters or {}
  if #chapters == 0 then
    return require('foldline').notify('this prompt has no chapters')
  end
  local function toggle(chapter)
    local command = chapter.open and 'prompt.closeSections' or 'prompt.openSections'
    require('foldline.preview').step(preview, command, { chapters = { chapter.key } })
  end
  if key then
    for _, chapter in ipairs(chapters) do
      if chapter.key == key then
        return toggle(chapter)
      end
    end
    -- The server says which there are.
    return toggle({ key = key, open = false })
  end
  vim.ui.select(chapters, {
    prompt = ('Open or close a chapter (%s)'):format(preview.chapters_shown or ''),
    format_item = function(chapter)
      local state = chapter.open and 'open' or chapter.may_open and 'closed' or 'stays closed'
      local why = chapter.may_open and '' or ', ' .. table.concat(chapter.reasons, '; ')
      return ('%s (%s): %s%s'):format(chapter.title, chapter.key, state, why)
    end,
  }, function(chapter)
    if chapter then
      toggle(chapter)
    end
  end)
end

---@param preview foldline.Preview
---@return string[]
function M.field_names(preview)
  return vim.tbl_map(function(named)
    return named.name
  end, fields_of(preview))
end

--- What a field can be set to, as it is typed; nothing where that is open.
---@param preview foldline.Preview
---@param name string
---@return string[]
function M.choices(preview, name)
  for _, named in ipairs(fields_of(preview)) do
    if named.name == name then
      local choices = named.field.type == 'bool' and { true, false } or named.field.choices or {}
      return vim.tbl_map(tostring, choices)
    end
  end
  return {}
end

---@param preview foldline.Preview
---@return string[]
function M.set_names(preview)
  local names = vim.tbl_map(function(set)
    return set.name
  end, preview.parameter_sets or {})
  return vim.list_extend(names, { 'none' })
end

---@param preview foldline.Preview
---@return string[]
function M.chapter_keys(preview)
  return vim.tbl_map(function(chapter)
    return chapter.key
  end, preview.chapters or {})
end

--- The fields with their values and origins, as lines for a report.
---@param preview foldline.Preview
---@return string[]
function M.lines(preview)
  return vim.tbl_map(function(named)
    return label(preview, named)
  end, fields_of(preview))
end

--- Whether the value, or part of it, was made up by its type.
---@param preview foldline.Preview
---@param parameters foldline.Parameters
---@param field foldline.Field
---@return boolean
function M.is_made_up(preview, parameters, field)
  local name = ('%s.%s'):format(parameters.section or parameters.type, field.name)
  for _, path in ipairs(preview.generated or {}) do
    if path == name or vim.startswith(path, name .. '.') or vim.startswith(path, name .. '[') then
      return true
    end
  end
  return field.origin ~= nil and field.origin.source == 'generated'
end

---@param preview foldline.Preview
---@return foldline.NamedField[]
function fields_of(preview)
  local found = {}
  for _, parameters in ipairs(preview.parameters or {}) do
    local key = parameters.section or parameters.type
    for _, field in ipairs(parameters.fields) do
      local name = ('%s.%s'):format(key, field.name)
      table.insert(found, { name = name, key = key, parameters = parameters, field = field })
    end
  end
  return found
end

--- A field as a line: "Project.language: str = 'Python 3.11' (default)".
---@param preview foldline.Preview
---@param named foldline.NamedField
---@return string
function label(preview, named)
  local field = named.field
  local from = field.origin and origin(field.origin) or 'no value'
  if M.is_made_up(preview, named.parameters, field) and from ~= MADE_UP then
    from = ('%s, partly %s'):format(from, MADE_UP)
  end
  return ('%s: %s = %s (%s)'):format(named.name, field.type, field.shown or '?', from)
end

--- Where a value comes from: "preview_polish(), line 21 of review.py".
---@param from { source: string, name: string?, file: string?, line: integer? }
---@return string
function origin(from)
  local text = ORIGINS[from.source] or from.name
  if from.source == 'fixture' then
    text = from.name .. '()'
  end
  local file = from.file and vim.fs.basename(from.file)
  if file and from.line then
    return ('%s, line %d of %s'):format(text or from.source, from.line, file)
  end
  return file or text or from.source
end

---@param preview foldline.Preview
---@param named foldline.NamedField
function choose_value(preview, named)
  local field = named.field
  if not field.editable then
    local message = ('%s can only be set in code: it is %s'):format(named.name, field.type)
    return require('foldline').notify(message)
  end
  local choices = M.choices(preview, named.name)
  local is_typed = field.origin and field.origin.source == 'given'
  if #choices > 0 then
    local items = is_typed and vim.list_extend(choices, { RESET }) or choices
    return vim.ui.select(items, { prompt = label(preview, named) }, function(item, index)
      if item == RESET and index == #items and is_typed then
        return set_field(preview, named, nil)
      end
      if item then
        set_field(preview, named, parse(field, item))
      end
    end)
  end
  local doc = field.doc ~= '' and (' (%s)'):format(field.doc) or ''
  local prompt = ('%s: %s%s = '):format(named.name, field.type, doc)
  vim.ui.input({ prompt = prompt, default = typed_value(field) }, function(text)
    if text then
      set_field(preview, named, parse(field, text))
    end
  end)
end

--- The value as a user types it: text as it is, all else as JSON.
---@param field foldline.Field
---@return string
function typed_value(field)
  if field.value == nil then
    return ''
  end
  return type(field.value) == 'string' and field.value or vim.json.encode(field.value)
end

---@param field foldline.Field
---@param text string
---@return any
function parse(field, text)
  for _, choice in ipairs(field.choices or {}) do
    if tostring(choice) == text then
      return choice
    end
  end
  local may_be_none = field.type:find('None', 1, true)
  if may_be_none and (text == 'null' or text == 'None' or text == '') then
    return vim.NIL
  end
  if field.type:match('^str%f[%W]') then
    return text
  end
  local is_json, value = pcall(vim.json.decode, text)
  if is_json then
    return value
  end
  -- The server says what it expects.
  return text
end

---@param preview foldline.Preview
---@param named foldline.NamedField
---@param value any nil: take the typed value back
function set_field(preview, named, value)
  local params = given(preview)
  local fields = params[named.key] or {}
  fields[named.field.name] = value
  params[named.key] = next(fields) and fields or nil
  send(preview, next(params) and params or vim.empty_dict())
end

--- The values that were typed so far; the server replaces all of them.
---@param preview foldline.Preview
---@return table<string, table<string, any>>
function given(preview)
  local params = vim.deepcopy(preview.params or {})
  for _, named in ipairs(fields_of(preview)) do
    local field = named.field
    local fields = params[named.key] or {}
    -- Neovim 0.11 leaves nulls out of what it decodes.
    if field.origin and field.origin.source == 'given' and fields[field.name] == nil then
      fields[field.name] = vim.NIL
      params[named.key] = fields
    end
  end
  return params
end

---@param preview foldline.Preview
---@param params table
function send(preview, params)
  require('foldline.preview').step(preview, 'prompt.setParams', { params = params })
end

return M
